// SPDX-License-Identifier: Apache-2.0
// What measuring costs: the same stream of four stages with its statistics off and on, turn by turn, so that what the
// machine does meanwhile falls on both. Names are statistics/<order>/<work>; `off_ns` and `on_ns` an item are medians,
// `cost_percent` the median of the ratios of neighbours.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>

#include <levada/levada.hpp>

#include "overhead/work.hpp"

namespace {

struct step {
  std::uint32_t rounds;
  std::uint64_t sum = 0;
  void operator()(std::uint64_t& x) { sum += x = overhead::spin(x ^ (sum & 1), rounds); }
};
struct parallel_step {
  std::uint32_t rounds;
  void operator()(std::uint64_t& x) const { x = overhead::spin(x, rounds); }
};

template <bool Serial>
auto chain(double ns) {
  const std::uint32_t rounds = overhead::rounds_of(ns);
  const auto one = [&] {
    if constexpr (Serial)
      return levada::stage<"work">(step{rounds});
    else
      return levada::stage<"work">(levada::parallel(parallel_step{rounds}));
  };
  return levada::deploy<levada::target<levada::cpu<2>>>(levada::input<std::uint64_t> | one() | one() | one() | one());
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class App>
double nanoseconds_an_item(const App& app, const std::vector<std::uint64_t>& items, bool measured) {
  auto results = app.stream(items);
  if (measured) results.measure();
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t sum = 0;
  for (auto&& r : results) sum += *r;
  benchmark::DoNotOptimize(sum);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  if (measured && results.statistics().stages.back().items != items.size()) std::abort();
  return took.count() / static_cast<double>(items.size());
}

template <bool Serial>
void compare(benchmark::State& state, double ns) {
  const auto app = chain<Serial>(ns);
  const auto count = static_cast<std::size_t>(std::clamp(12e6 / (4 * ns + 20), 200.0, 100'000.0));
  std::vector<std::uint64_t> items(count);
  for (std::size_t i = 0; i < count; ++i) items[i] = i;
  std::vector<double> off, on, ratio;
  for (auto _ : state) {
    const bool first = off.size() % 2 != 0;
    double took[2];
    took[first] = nanoseconds_an_item(app, items, first);
    took[!first] = nanoseconds_an_item(app, items, !first);
    off.push_back(took[0]);
    on.push_back(took[1]);
    ratio.push_back(took[1] / took[0]);
    state.SetIterationTime((took[0] + took[1]) * 1e-9 * static_cast<double>(count));
  }
  state.counters["off_ns"] = median(off);
  state.counters["on_ns"] = median(on);
  state.counters["cost_percent"] = (median(ratio) - 1) * 100;
}

template <bool Serial>
void add(const char* order) {
  for (const int ns : {0, 100, 1000, 10'000})
    benchmark::RegisterBenchmark(("statistics/" + std::string(order) + "/" + std::to_string(ns) + "ns").c_str(),
                                 [ns](benchmark::State& state) { compare<Serial>(state, ns); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(300);
}

}  // namespace

int main(int argc, char** argv) {
  const oneapi::tbb::global_control two(oneapi::tbb::global_control::max_allowed_parallelism, 2);
  add<true>("serial");
  add<false>("parallel");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
