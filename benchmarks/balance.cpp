// SPDX-License-Identifier: Apache-2.0
// balance: what the balanced split of twelve stages with states reaches over cpu<2> | simulated<0> | cpu<2>, which are
// three that work. Stages wait 1 ms, so that three threads have room on two processors. The ideal is an item in four
// times what a stage takes in a loop, and `of ideal` the median over turns of both.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include "../tests/run/twelve_stages.hpp"

namespace {

namespace lv = levada;
using clock_type = std::chrono::steady_clock;

struct wait_1ms {
  void operator()() const { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
};

template <class F>
double seconds_of(F f) {
  const auto start = clock_type::now();
  f();
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

void balance(benchmark::State& state) {
  const auto app = lv::test::deploy_twelve(wait_1ms{});
  static_assert(lv::test::is_balanced<decltype(app)>);
  const std::vector<std::uint64_t> items(200, 7);
  std::vector<double> parts;
  for (auto _ : state) {
    const double stage = seconds_of([] {
                           lv::test::counting_stage<wait_1ms> one{{}};
                           for (std::uint64_t i = 0; i < 200; ++i) benchmark::DoNotOptimize(one(i));
                         }) /
                         200;
    // From the moment on when the pipeline is full to the last item but those that drain it.
    auto results = app.stream(items);
    clock_type::time_point from, to;
    std::size_t popped = 0;
    for (auto&& r : results) {
      benchmark::DoNotOptimize(r.value());
      if (++popped == 50) from = clock_type::now();
      if (popped == 150) to = clock_type::now();
    }
    const double item = std::chrono::duration<double>(to - from).count() / 100;
    parts.push_back(4 * stage / item);
  }
  std::sort(parts.begin(), parts.end());
  state.counters["of ideal"] = parts[parts.size() / 2];
  state.counters["least"] = parts.front();
  state.counters["most"] = parts.back();
}
BENCHMARK(balance)->Iterations(7)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
