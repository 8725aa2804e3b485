// SPDX-License-Identifier: Apache-2.0
// The demo's network with weights of int8 and activations of uint8: what that costs in accuracy, measured while the
// scales were found and bounded where it is deployed, and what it gains in time. Beside it the same with bfloat16,
// which needs no calibration.
//
//   quantized                        float, int8 and bfloat16 by turns over the test pictures
//   quantized --calibrate FILE       writes network.scales.hpp: scales from training pictures, the loss from all test
//   pictures

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/fashion_mnist.hpp"
#include "../common/run.hpp"
#include "network.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/calibrate.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

namespace {

namespace lv = levada;
namespace fashion = example::fashion_mnist;
using namespace lv::literals;

using box = lv::target<lv::cpu<1>>;

struct options {
  std::string data, calibrate;
  std::size_t limit = 10'000;
};

int calibrate(const options& o, const lv::safetensors& weights) {
  auto samples = fashion::read(fashion::folder(o.data), "train").pictures;
  samples.resize(5'000);
  const auto test = fashion::read(fashion::folder(o.data), "t10k");
  const auto found = lv::calibrate(fashion::quantized_classifier(weights, lv::to_calibrate), samples,
                                   lv::labelled{test.pictures, test.labels}, o.calibrate);
  std::printf("accuracy %.4f in float, %.4f with integers\n", found.accuracy, found.quantized_accuracy);
  return 0;
}

/// The labels that one precision gives, and the microseconds a picture of each round.
template <class Set>
class contender {
 public:
  contender(const char* name, const Set& set) : name_(name), set_(set), labels_(set.pictures.size()) {}

  template <class App>
  void run(const App& app) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i] = app(set_.pictures[i]);
    us_.push_back(1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
                  static_cast<double>(labels_.size()));
  }
  double accuracy() const {
    std::size_t right = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) right += labels_[i] == set_.labels[i];
    return static_cast<double>(right) / static_cast<double>(labels_.size());
  }
  /// Beside another, round by round.
  void print(const contender& other) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < us_.size(); ++i) ratios.push_back(other.us_[i] / us_[i]);
    std::printf("  %-8s  accuracy %.4f, %.2f us a picture, %.2f times as fast\n", name_, accuracy(), median(us_),
                median(ratios));
  }

 private:
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  const char* name_;
  const Set& set_;
  std::vector<int> labels_;
  std::vector<double> us_;
};

int compare(const options& o, const lv::safetensors& weights) {
  auto set = fashion::read(fashion::folder(o.data), "t10k");
  set.pictures.resize(std::min(o.limit, set.pictures.size()));
  const auto in_float = lv::deploy<box>(fashion::classifier(weights));
  // Would not compile where the calibration had measured more.
  const auto by_int8 = lv::deploy<box, lv::budget<lv::accuracy_loss<0.5_points>>>(
      fashion::quantized_classifier(weights, lv::scales<network_scales>));
  const auto by_bfloat16 = lv::deploy<box>(fashion::classifier(weights, fashion::anywhere{}, fashion::by_bfloat16{}));
  std::printf("%s\n", lv::report(by_int8).c_str());

  contender of_float("float", set), of_int8("int8", set), of_bfloat16("bfloat16", set);
  for (int round = 0; round < 9; ++round) {
    of_float.run(in_float);
    of_int8.run(by_int8);
    of_bfloat16.run(by_bfloat16);
  }
  std::printf("%zu pictures, medians of 9 rounds by turns\n", set.pictures.size());
  for (const auto* c : {&of_float, &of_int8, &of_bfloat16}) c->print(of_float);
  if (of_float.accuracy() - of_int8.accuracy() > 0.005) throw lv::error("integers cost more than half a point");
  if (of_float.accuracy() - of_bfloat16.accuracy() > 0.005) throw lv::error("bfloat16 costs more than half a point");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App arguments("The demo's network with integers.");
  arguments.add_option("--limit", o.limit, "Only that many pictures")->check(CLI::PositiveNumber);
  arguments.add_option("--calibrate", o.calibrate, "Finds the scales and writes what this is compiled with");
  arguments.add_option("--data", o.data, "The folder of the data set; default LEVADA_FASHION_MNIST, then Debian's");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] {
    const lv::safetensors weights(LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors");
    return o.calibrate.empty() ? compare(o, weights) : calibrate(o, weights);
  });
}
