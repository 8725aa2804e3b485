// SPDX-License-Identifier: Apache-2.0
// How long short items wait beside long ones. One item of fifty takes a hundred times as long, and items come at such a
// pace that two threads are busy half of the time. Sessions give results in order and as they complete, by turns.
// Names are unordered/<work>/<short item>: `busy` computes, `waiting` sleeps.
//
// `ordered_p95_us` and `unordered_p95_us` are of the short ones, from push to pop, medians of the turns; `ratio` is the
// median of the turns' ratios.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <levada/levada.hpp>

namespace {

using clock_type = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

constexpr bool is_long(std::size_t item) { return item % 50 == 49; }

/// Takes so long, and a hundred times as long for a long item.
template <bool Waits>
struct serve {
  microseconds one;
  std::size_t operator()(const std::size_t& item) const {
    const auto end =
        clock_type::now() + std::chrono::duration_cast<clock_type::duration>(is_long(item) ? 100 * one : one);
    if constexpr (Waits)
      std::this_thread::sleep_until(end);
    else
      while (clock_type::now() < end) {
      }
    return item;
  }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The p95 of the short items' ages, in microseconds.
template <class... Options, class App>
double p95(const App& app, std::size_t count, microseconds pace) {
  std::vector<clock_type::time_point> pushed(count), popped(count);
  auto session = app.template open<Options...>();
  std::thread popper([&] {
    while (const auto result = session.pop()) popped[**result] = clock_type::now();
  });
  const auto start = clock_type::now();
  for (std::size_t i = 0; i < count; ++i) {
    std::this_thread::sleep_until(start +
                                  std::chrono::duration_cast<clock_type::duration>(static_cast<double>(i) * pace));
    pushed[i] = clock_type::now();
    session.push(i);
  }
  session.close();
  popper.join();
  std::vector<double> ages;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_long(i)) ages.push_back(microseconds(popped[i] - pushed[i]).count());
  const auto at = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() * 95 / 100);
  std::nth_element(ages.begin(), at, ages.end());
  return *at;
}

template <bool Waits>
void compare(benchmark::State& state, microseconds one) {
  const auto app = levada::deploy<levada::target<levada::cpu<2>>>(
      levada::input<std::size_t> | levada::stage<"serve">(levada::parallel(serve<Waits>{one})));
  const microseconds pace = 2.98 * one;  // the mean of what items take
  const auto count = static_cast<std::size_t>(std::clamp(1e6 / pace.count(), 500.0, 5000.0));
  std::vector<double> ordered, unordered, ratio;
  for (auto _ : state) {
    ordered.push_back(p95<>(app, count, pace));
    unordered.push_back(p95<levada::unordered>(app, count, pace));
    ratio.push_back(unordered.back() / ordered.back());
    state.SetIterationTime(2 * static_cast<double>(count) * pace.count() * 1e-6);
  }
  state.counters["ordered_p95_us"] = median(ordered);
  state.counters["unordered_p95_us"] = median(unordered);
  state.counters["ratio"] = median(ratio);
}

template <bool Waits>
void add(const char* work, double us) {
  benchmark::RegisterBenchmark(
      ("unordered/" + std::string(work) + "/" + std::to_string(static_cast<int>(us)) + "us").c_str(),
      [us](benchmark::State& state) { compare<Waits>(state, microseconds(us)); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(11);
}

}  // namespace

int main(int argc, char** argv) {
  add<false>("busy", 20);
  add<false>("busy", 200);
  add<true>("waiting", 1000);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
