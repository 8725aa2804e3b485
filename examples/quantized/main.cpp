// SPDX-License-Identifier: Apache-2.0
// The demo's network with weights of int8 and activations of uint8: what that costs in accuracy, measured while the scales were found
// and bounded where it is deployed, and what it gains in time.
//
//   quantized                        float and int8 by turns over the test pictures
//   quantized --calibrate FILE       writes network.scales.hpp: scales from training pictures, the loss from all test pictures

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

/// Microseconds a picture.
template <class App>
double pass(const App& app, const std::vector<fashion::picture>& pictures, std::vector<int>& labels) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < pictures.size(); ++i) labels[i] = app(pictures[i]);
  return 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
         static_cast<double>(pictures.size());
}

double share_of_right(const std::vector<int>& labels, const std::vector<std::uint8_t>& expected) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += labels[i] == expected[i];
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

int compare(const options& o, const lv::safetensors& weights) {
  auto set = fashion::read(fashion::folder(o.data), "t10k");
  set.pictures.resize(std::min(o.limit, set.pictures.size()));
  const auto in_float = lv::deploy<box>(fashion::classifier(weights));
  // Would not compile where the calibration had measured more.
  const auto by_int8 = lv::deploy<box, lv::budget<lv::accuracy_loss<0.5_points>>>(
      fashion::quantized_classifier(weights, lv::scales<network_scales>));
  std::printf("%s\n", lv::report(by_int8).c_str());

  std::vector<int> float_labels(set.pictures.size()), int8_labels(set.pictures.size());
  std::vector<double> float_us, int8_us, ratios;
  for (int round = 0; round < 9; ++round) {
    float_us.push_back(pass(in_float, set.pictures, float_labels));
    int8_us.push_back(pass(by_int8, set.pictures, int8_labels));
    ratios.push_back(float_us.back() / int8_us.back());
  }
  for (std::vector<double>* v : {&float_us, &int8_us, &ratios}) std::sort(v->begin(), v->end());
  const double float_accuracy = share_of_right(float_labels, set.labels),
               int8_accuracy = share_of_right(int8_labels, set.labels);
  std::printf("%zu pictures, medians of 9 rounds by turns\n", set.pictures.size());
  std::printf("  float  accuracy %.4f, %.2f us a picture\n", float_accuracy, float_us[4]);
  std::printf("  int8   accuracy %.4f, %.2f us a picture, %.2f times as fast\n", int8_accuracy, int8_us[4], ratios[4]);
  if (float_accuracy - int8_accuracy > 0.005) throw lv::error("integers cost more than half a point");
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
