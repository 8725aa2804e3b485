// SPDX-License-Identifier: Apache-2.0
// Whole networks: levada's `simd` beside the peers that are found, all from the same ONNX file. Names are
// models/<contender>/<network>/<threads>/<float|int8|bf16>. `levada_direct`, `onednn_direct` and `ncnn_direct` have no
// transforms of Winograd, which ONNX Runtime and XNNPACK never have.
//
// - 1: one item after the other on one thread, in CPU time.
// - 2: many items on two threads. levada streams them; a peer computes half of them on each; one with `_pool` divides
//   each item between two, as `levada_divided` does.
//
// All give the same outputs before anything is timed; those of int8 differ where a sum is rounded elsewhere. Rows of
// bf16 are the networks of float by `quantize<bfloat16>`, checked against the peers' floats. ONNX Runtime has no
// convolution of bfloat16 on the processor: the table shows the peers' floats beside them.
// Repetitions are interleaved; a table of the medians ends the output. `--layers` prints instead the ten kernels that
// lose most to the processor's peak, of all networks and of each; of bfloat16 to that of float.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include <levada/backend/simd/detail/quads.hpp>
#include <levada/core/error.hpp>
#include <levada/interop/profile/machine.hpp>

#include "../../examples/common/run.hpp"
#include "../common/interleaved.hpp"
#include "../common/progress.hpp"
#include "../common/tensors.hpp"
#include "layers.hpp"
#include "network.hpp"
#include "table.hpp"

namespace {

using namespace models;

/// Throws where outputs differ by more than rounding explains.
void check(const std::string& name, const entry& of, network& one, network& other) {
  one.run();
  other.run();
  tensors::check(name, of.element == "float" ? 1e-4f : 0.03f, one.outputs(), other.outputs());
}

/// levada's, each item on two threads.
class divided final : public network {
 public:
  explicit divided(std::shared_ptr<deployed_network> of) : of_(std::move(of)) {}
  std::vector<std::span<float>> inputs() override { return of_->inputs(); }
  std::vector<std::span<const float>> outputs() override { return of_->outputs(); }
  void run() override { of_->run_divided(); }
  void run_on_two(std::size_t items) override {
    for (std::size_t i = 0; i < items; ++i) run();
  }

 private:
  std::shared_ptr<deployed_network> of_;
};

class contest {
 public:
  explicit contest(std::string_view only) {
    for (const entry& e : entries())
      if (!e.is_direct && (only.empty() || e.name == only)) {
        networks_.emplace_back(e.name, e.element), add(e);
        for (const entry& d : entries())
          if (d.is_direct && d.name == e.name && d.element == e.element) add_direct(d);
      }
  }

  const std::vector<std::pair<std::string, std::string>>& networks() const { return networks_; }
  const std::vector<std::string>& contenders() const { return contenders_; }

 private:
  void add(const entry& e) {
    progress::show("the outputs of " + e.name + " " + e.element);
    const std::shared_ptr<deployed_network> ours = e.deploy();
    tensors::fill(ours->inputs());
    enter("levada", e, ours, true, true);
    enter("levada_divided", e, std::make_shared<divided>(ours), false, true);
    std::vector<std::size_t> sizes;
    for (const std::span<float> input : ours->inputs()) sizes.push_back(input.size());
    for (const peer& p : peers()) {
      if (p.is_direct) continue;
      const bool is_timed = e.element != "bf16" || p.has_bfloat16;
      enter_peer(p.name, e, *ours, p.make(e, sizes, 1), true, is_timed);
      if (is_timed) enter_peer(p.name + "_pool", e, *ours, p.make(e, sizes, 2), false, true);
    }
  }

  void add_direct(const entry& e) {
    progress::show("the outputs of " + e.name + " " + e.element + " without transforms");
    const std::shared_ptr<deployed_network> ours = e.deploy();
    tensors::fill(ours->inputs());
    enter("levada_direct", e, ours, true, true);
    for (const peer& p : peers())
      if (p.is_direct) enter_peer(p.name, e, *ours, p.make(e, {}, 1), true, true);
  }

  void enter_peer(const std::string& contender, const entry& e, network& ours, const std::shared_ptr<network>& peer,
                  bool on_one, bool is_timed) {
    if (peer == nullptr) return;
    tensors::fill(peer->inputs());
    peer->take_inputs();
    check(contender + " and levada, " + e.name + " " + e.element, e, *peer, ours);
    if (is_timed) enter(contender, e, peer, on_one, true);
  }

  void enter(const std::string& contender, const entry& e, const std::shared_ptr<network>& n, bool on_one,
             bool on_two) {
    if (std::find(contenders_.begin(), contenders_.end(), contender) == contenders_.end())
      contenders_.push_back(contender);
    const std::string head = "models/" + contender + "/" + e.name;
    if (on_one)
      benchmark::RegisterBenchmark((head + "/1/" + e.element).c_str(), [n, head](benchmark::State& state) {
        progress::show(head + "/1");
        n->run();
        for (auto _ : state) {
          n->run();
          benchmark::ClobberMemory();
        }
        state.SetItemsProcessed(state.iterations());
      })->Unit(benchmark::kMicrosecond);
    if (on_two)
      benchmark::RegisterBenchmark(
          (head + "/2/" + e.element).c_str(),
          [n, head](benchmark::State& state) {
            progress::show(head + "/2");
            const auto start = std::chrono::steady_clock::now();
            n->run();
            const std::chrono::duration<double> once = std::chrono::steady_clock::now() - start;
            const auto items = static_cast<std::size_t>(std::clamp(50e-3 / once.count(), 4.0, 1000.0)) / 2 * 2;
            n->run_on_two(items);
            for (auto _ : state) n->run_on_two(items);
            state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
          })
          ->Unit(benchmark::kMicrosecond)
          ->UseRealTime();
  }

  std::vector<std::pair<std::string, std::string>> networks_;  ///< and their elements
  std::vector<std::string> contenders_;
};

int compare(std::vector<char*> arguments, std::string_view only) {
  if (!interleaved::initialize(std::move(arguments), "0.05")) return 1;
  if (peers().empty()) std::puts("Without a peer: CMake says what each of them needs.");
  const contest all(only);
  with_table reporter;
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return 1;
  reporter.print(all.networks(), all.contenders());
  return 0;
}

/// Products of bytes alone, as the kernels add them: two operations each, a second.
double peak_of_bytes() {
  namespace detail = levada::detail;
  using set = levada::isa::native;
  using vector = detail::vector<std::int32_t, set>;
  constexpr std::size_t sums = 12, rounds = 20000;
  double best = 0;
  for (int attempt = 0; attempt < 7; ++attempt) {
    vector sum[sums];
    for (vector& s : sum) s = vector(0);
    std::int32_t given = 0x01020304;
    asm volatile("" : "+m"(given));  // a number that the compiler does not know
    const vector inputs(given), weights(given + 1);
    const double start = detail::thread_seconds();
    for (std::size_t r = 0; r < rounds; ++r)
      detail::unrolled<sums>(
          [&](std::size_t i) { sum[i] = detail::add_quad_products<set, true>(inputs, weights, sum[i]); });
    const double seconds = detail::thread_seconds() - start;
    for (vector& s : sum) asm volatile("" : : "m"(s));
    best = std::max(best, 2.0 * sizeof(vector) * sums * rounds / seconds);
  }
  return best;
}

int show_layers(std::string_view only) {
  const double of_floats = levada::detail::peak_flops(), of_bytes = peak_of_bytes();
  std::printf("multiply-adds alone: %.1f GFLOP/s, of bytes %.1f\n", 1e-9 * of_floats, 1e-9 * of_bytes);
  std::vector<layer_of_network> all;
  for (const entry& e : entries()) {
    if (!only.empty() && e.name != only) continue;
    const double peak = e.element == "int8" ? of_bytes : of_floats;
    const auto ours = e.deploy();
    tensors::fill(ours->inputs());
    std::vector<layer_of_network> of_one;
    double seconds = 0, flops = 0;
    for (layer& l : ours->layers()) {
      seconds += l.seconds, flops += l.flops;
      of_one.push_back({e.name + " " + e.element, std::move(l), peak});
    }
    std::printf("\n%s %s: %.1f us, %.1f MFLOP, %.0f%% of the peak\n", e.name.c_str(), e.element.c_str(), 1e6 * seconds,
                1e-6 * flops, 100 * flops / (seconds * peak));
    print_layers(of_one);
    all.insert(all.end(), of_one.begin(), of_one.end());
  }
  std::puts("\nof all");
  print_layers(all);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  bool layers = false;
  std::string only;
  std::vector<char*> rest{arguments[0]};
  for (int i = 1; i < count; ++i)
    if (std::strcmp(arguments[i], "--layers") == 0)
      layers = true;
    else if (arguments[i][0] != '-')
      only = arguments[i];
    else
      rest.push_back(arguments[i]);
  return example::run([&] { return layers ? show_layers(only) : compare(rest, only); });
}
