// SPDX-License-Identifier: Apache-2.0
// What measuring costs: the same stream of four stages with its statistics off, with them, and where a budget of
// latency is watched, turn by turn, so that what the machine does meanwhile falls on all. Names are
// statistics/<order>/<work>; `off_ns`, `measured_ns` and `watched_ns` an item are medians, the percentages medians of
// the ratios of neighbours.

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
#include <levada/run/promises.hpp>

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

constexpr levada::kernel_cost rows[] = {{"callable", "work(uint64) -> uint64", 1e-6}};
constexpr levada::cost_table costs{.machine = "no machine", .kernels = rows};
/// That no item exceeds, of which all are watched.
using within = levada::budget<levada::latency<levada::duration{10'000'000'000}>>;
void hear(const levada::late_item&) noexcept {}

template <bool Serial>
auto chain(double ns) {
  const std::uint32_t rounds = overhead::rounds_of(ns);
  const auto one = [&] {
    if constexpr (Serial)
      return levada::stage<"work">(step{rounds});
    else
      return levada::stage<"work">(levada::parallel(parallel_step{rounds}));
  };
  return levada::deploy<levada::target<levada::cpu<2>>, levada::costs<costs>, levada::estimates_count, within>(
      levada::input<std::uint64_t> | one() | one() | one() | one());
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

enum mode : std::size_t { off, measured, watched, modes };

template <class Stream>
double nanoseconds_an_item(Stream results, std::size_t count, mode how) {
  if (how == measured) results.measure();
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t sum = 0;
  for (auto&& r : results) sum += *r;
  benchmark::DoNotOptimize(sum);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  if (how != off && results.statistics().stages.back().items != count) std::abort();
  return took.count() / static_cast<double>(count);
}
template <class App>
double nanoseconds_an_item(const App& app, const std::vector<std::uint64_t>& items, mode how) {
  if (how == watched) return nanoseconds_an_item(app.template stream<levada::on_late<&hear>>(items), items.size(), how);
  return nanoseconds_an_item(app.stream(items), items.size(), how);
}

template <bool Serial>
void compare(benchmark::State& state, double ns) {
  const auto app = chain<Serial>(ns);
  const auto count = static_cast<std::size_t>(std::clamp(12e6 / (4 * ns + 20), 200.0, 100'000.0));
  std::vector<std::uint64_t> items(count);
  for (std::size_t i = 0; i < count; ++i) items[i] = i;
  std::vector<double> all[modes], ratios[modes];
  for (auto _ : state) {
    double took[modes], sum = 0;
    for (std::size_t m = 0; m < modes; ++m) {  // each is first by turns
      const std::size_t how = (m + all[off].size()) % modes;
      took[how] = nanoseconds_an_item(app, items, static_cast<mode>(how));
    }
    for (std::size_t m = 0; m < modes; ++m) {
      all[m].push_back(took[m]);
      ratios[m].push_back(took[m] / took[off]);
      sum += took[m];
    }
    state.SetIterationTime(sum * 1e-9 * static_cast<double>(count));
  }
  state.counters["off_ns"] = median(all[off]);
  state.counters["measured_ns"] = median(all[measured]);
  state.counters["watched_ns"] = median(all[watched]);
  state.counters["measured_percent"] = (median(ratios[measured]) - 1) * 100;
  state.counters["watched_percent"] = (median(ratios[watched]) - 1) * 100;
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
