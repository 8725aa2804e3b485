// SPDX-License-Identifier: Apache-2.0
// Classifies the test pictures of Fashion-MNIST through one static pipeline, and says how well, how fast, with how many
// allocations, and by which plan.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "../../tests/support/counting.hpp"
#include "../common/fashion_mnist.hpp"
#include "../common/progress.hpp"
#include "../common/run.hpp"
#include "demo.costs.hpp"
#include "deployment.hpp"
#include "network.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/html_report.hpp>
#include <levada/interop/report.hpp>
#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>
#include <nlohmann/json.hpp>
#if LEVADA_HAS_VULKAN
#include <levada/backend/spirv.hpp>
#endif
#include <xsimd/xsimd.hpp>

namespace {

namespace lv = levada;
namespace fashion = example::fashion_mnist;

struct options {
  std::string weights = LEVADA_SOURCE_DIR "/examples/fashion_mnist/weights.safetensors";
  std::string data, json, report;
  std::size_t limit = 10'000;
  bool vulkan = false;
};

/// What a run is judged by.
struct figures {
  std::size_t items = 0, correct = 0;
  std::optional<std::size_t> unlike_cpu;  ///< labels that the CPU alone gives otherwise
  std::size_t segments = 0;
  double items_per_s_stream = 0, items_per_s_inline = 0;
  double allocations_per_item = 0, pooled_messages_per_item = 0;

  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(items); }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How often a second `pass` gets through that many items.
template <class Pass>
double items_per_s(std::size_t items, Pass pass) {
  const auto start = std::chrono::steady_clock::now();
  pass();
  return static_cast<double>(items) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class App>
std::vector<int> classify(App& app, const fashion::labelled& set) {
  std::vector<int> labels;
  labels.reserve(set.pictures.size());
  example::progress bar("classifying", set.pictures.size());
  for (auto&& label : app.stream(set.pictures)) {
    labels.push_back(label.value());
    bar.advance();
  }
  return labels;
}

/// Streamed and inline in turns, so that both meet the same machine; the median of 3 to 21 rounds, about three seconds.
/// Allocations are those of the second half of a round: one thread's pool of oneTBB's tasks may still grow by one in
/// some round.
template <class App>
void measure(App& app, const fashion::labelled& set, const std::vector<int>& labels, figures& f) {
  const std::size_t items = set.pictures.size();
  const auto check = [&](std::size_t i, int label) {
    if (label != labels[i]) throw lv::error("picture " + std::to_string(i) + " was given another label this time");
  };
  std::vector<double> streamed, inline_, allocations, pooled;
  const std::size_t warm = items / 2;
  const auto round = [&] {
    streamed.push_back(items_per_s(items, [&] {
      std::size_t i = 0;
      allocation_counts before;
      for (auto&& label : app.stream(set.pictures)) {
        if (i == warm) before = allocations_now();
        check(i++, label.value());
      }
      const allocation_counts counts = allocations_now() - before;
      allocations.push_back(static_cast<double>(counts.heap()) / static_cast<double>(items - warm));
      pooled.push_back(static_cast<double>(counts.tbb_pooled) / static_cast<double>(items - warm));
    }));
    inline_.push_back(items_per_s(items, [&] {
      for (std::size_t i = 0; i < items; ++i) check(i, app(set.pictures[i]));
    }));
  };
  round();
  const double seconds = static_cast<double>(items) * (1 / streamed.front() + 1 / inline_.front());
  const auto rounds = static_cast<std::size_t>(std::clamp(3 / seconds, 3.0, 21.0));
  example::progress bar("measuring", rounds);
  for (std::size_t done = 1; done < rounds; ++done) {
    bar.advance();
    round();
  }
  f.items_per_s_stream = median(std::move(streamed));
  f.items_per_s_inline = median(std::move(inline_));
  f.allocations_per_item = median(std::move(allocations));
  f.pooled_messages_per_item = median(std::move(pooled));
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw lv::error(path + ": cannot be written");
}

void print(const options& o, const figures& f, const std::string& plan) {
  std::printf("%s\n", plan.c_str());
  std::printf("Fashion-MNIST, %zu test pictures, instruction set %s\n", f.items, xsimd::default_arch::name());
  std::printf("  accuracy            %.4f\n", f.accuracy());
  if (f.unlike_cpu) std::printf("  unlike the CPU's    %zu labels\n", *f.unlike_cpu);
  std::printf("  streamed            %.0f pictures/s (%.2f times inline)\n", f.items_per_s_stream,
              f.items_per_s_stream / f.items_per_s_inline);
  std::printf("  inline, one thread  %.0f pictures/s (%.2f us each)\n", f.items_per_s_inline,
              1e6 / f.items_per_s_inline);
  if (counts_allocations)
    std::printf("  allocations         %g a picture%s, and %.3f messages from the pool of oneTBB\n",
                f.allocations_per_item, f.unlike_cpu ? ", the driver's among them" : "", f.pooled_messages_per_item);

  if (!o.json.empty()) {
    // What could not be counted is null.
    nlohmann::json allocations, pooled_messages;
    if (counts_allocations) allocations = f.allocations_per_item, pooled_messages = f.pooled_messages_per_item;
    nlohmann::json j{{"accuracy", f.accuracy()},
                     {"items", f.items},
                     {"items_per_s_stream", f.items_per_s_stream},
                     {"items_per_s_inline", f.items_per_s_inline},
                     {"allocations_per_item", allocations},
                     {"pooled_messages_per_item", pooled_messages},
                     {"segments", f.segments},
                     {"instruction_set", std::string(xsimd::default_arch::name())}};
    if (f.unlike_cpu) j["unlike_cpu"] = *f.unlike_cpu;
    write(o.json, j.dump(2) + "\n");
  }
}

/// A page of the plan and of one more pass through the pictures, which is measured and traced; or the plan as JSON.
template <class App>
void write_report(const std::string& path, App& app, const fashion::labelled& set) {
  if (path.ends_with(".json")) return write(path, lv::report<lv::format::json>(app));
  auto labels = app.stream(set.pictures);
  labels.measure();
  labels.trace();
  for (auto&& label : labels) label.value();
  lv::report(app, labels, path);
}

/// Classifies and measures; `expected` are what the CPU alone says, where that is asked for.
template <class App>
void judge(const options& o, App app, fashion::labelled& set, const std::vector<int>* expected = nullptr) {
  figures f;
  f.items = set.pictures.size();
  f.segments = App::plan.segments;
  const std::vector<int> labels = classify(app, set);
  for (std::size_t i = 0; i < labels.size(); ++i) f.correct += labels[i] == set.labels[i];
  if (expected != nullptr) {
    f.unlike_cpu = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) *f.unlike_cpu += labels[i] != (*expected)[i];
    set.pictures.resize(std::min<std::size_t>(set.pictures.size(), 200));  // a software device is slow
  }
  measure(app, set, labels, f);
  if (!o.report.empty()) write_report(o.report, app, set);
  print(o, f, lv::report(app));
}

int demo(const options& o) {
  auto set = fashion::read(fashion::folder(o.data), "t10k");
  set.pictures.resize(std::min(set.pictures.size(), o.limit));
  const lv::safetensors weights(o.weights);
  auto on_cpu = lv::deploy<fashion::box, fashion::kernels, lv::costs<demo_costs>>(fashion::classifier(weights));
  if (!o.vulkan) {
    judge(o, std::move(on_cpu), set);
    return 0;
  }
#if LEVADA_HAS_VULKAN
  const std::vector<int> expected = classify(on_cpu, set);
  using with_gpu = lv::target<lv::cpu<1, 16>, lv::vulkan<0>>;
  judge(o, lv::deploy<with_gpu>(fashion::classifier(weights, fashion::on_device<lv::vulkan<0>>())), set, &expected);
  return 0;
#else
  throw lv::error("--vulkan: this demo was built without Vulkan's headers (apt-get install libvulkan-dev)");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App arguments("Classifies the test pictures of Fashion-MNIST.");
  arguments.add_option("--limit", o.limit, "Only that many pictures")->check(CLI::PositiveNumber);
  arguments.add_option("--json", o.json, "Writes the figures to this file");
  arguments.add_option(
      "--report", o.report,
      "Writes the plan and a traced run to this file, a page for a browser; the plan alone where it ends in .json");
  arguments.add_option("--data", o.data, "The folder of the data set; default LEVADA_FASHION_MNIST, then Debian's");
  arguments.add_option("--weights", o.weights, "The weights as a safetensors file")->capture_default_str();
  arguments.add_flag("--vulkan", o.vulkan, "The convolutions run on the first Vulkan device, the rest on the CPU");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return demo(o); });
}
