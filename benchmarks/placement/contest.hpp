// SPDX-License-Identifier: Apache-2.0
#pragma once
// placement/contest.hpp: the partition that measured costs choose against those of one backend each, item by item in
// turns.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <levada/interop/profile.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

#include "models.hpp"

namespace placement {

/// The largest difference of two results, as a part of the largest element. Labels are equal or not.
template <class Result>
double difference(const Result& a, const Result& b) {
  if constexpr (requires { a.size(); }) {
    double largest = 0, most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, static_cast<double>(std::abs(a[i])));
      most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
    }
    return most / largest;
  } else {
    return a == b ? 0 : 1;
  }
}

/// The first Vulkan device is one, and no processor that plays it.
inline bool has_gpu() {
  static const bool found = [] {
    try {
      return lv::detail::vulkan_context(0, {}).properties().deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    } catch (const lv::device_error&) {
      return false;
    }
  }();
  return found;
}

/// The thread's processor time, which other programs do not change. It does not say how long a GPU works.
inline double seconds_now() {
  if (!has_gpu()) return lv::detail::thread_seconds();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// An app as a call that is timed.
class contender {
 public:
  template <class App, class Item>
  contender(const char* name, const App& app, const std::vector<Item>& samples, const typename App::output& expected)
      : name_(name), call_([&app, &samples, out = std::make_shared<typename App::output>()](std::size_t calls) {
          const double start = seconds_now();
          for (std::size_t i = 0; i < calls; ++i) app(samples[i % samples.size()], *out);
          return (seconds_now() - start) / static_cast<double>(calls);
        }) {
    const auto out = std::make_unique<typename App::output>();
    app(samples[0], *out);
    if (const double d = difference(expected, *out); !(d <= 1e-4))
      throw lv::error("levada: " + std::string(name) + " gives other results: " + std::to_string(d));
  }

  const char* name() const { return name_; }
  double time(std::size_t calls) const { return call_(calls); }

 private:
  const char* name_;
  std::function<double(std::size_t)> call_;
};

/// Which backend has how many units and stages of a plan, and what the kernels are.
template <class Plan>
void print_partition(const Plan& plan) {
  for (const auto& unit : plan.unit) {
    std::string stages;
    for (std::size_t n = unit.first; n < unit.first + unit.count; ++n)
      stages += (n > unit.first ? " + " : "") + std::string(plan.graph.nodes[n].name);
    const std::string_view by =
        unit.backend == lv::partition_unit::callable ? "callable" : plan.backend[unit.backend].name;
    std::printf("    %-9.*s %s\n", static_cast<int>(by.size()), by.data(), stages.c_str());
  }
}

/// Times all by turns for about `seconds` and prints medians, with the ratio to the last one paired round by round.
inline void compare(const std::vector<contender>& contenders, double seconds) {
  const double once = contenders.back().time(1);
  const auto calls = static_cast<std::size_t>(std::clamp(2e-3 / once, 1.0, 1000.0));
  std::vector<std::vector<double>> times(contenders.size()), ratios(contenders.size());
  const double start = seconds_now();
  for (std::size_t round = 0; round < 11 || seconds_now() - start < seconds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const std::size_t c = (i + round) % contenders.size();
      times[c].push_back(contenders[c].time(calls));
    }
    for (std::size_t c = 0; c < contenders.size(); ++c) ratios[c].push_back(times[c].back() / times.back().back());
  }
  for (std::size_t c = 0; c < contenders.size(); ++c)
    std::printf("  %-20s %10.1f us   %.3f of the chosen one\n", contenders[c].name(), 1e6 * median_of(times[c]),
                median_of(ratios[c]));
}

/// The header that a model's costs are kept in: those of machines with AVX-512 and of others.
inline std::string header_of(const std::string& name) {
#ifdef __AVX512F__
  return LEVADA_SOURCE_DIR "/benchmarks/placement/costs/avx512/" + name + ".costs.hpp";
#else
  return LEVADA_SOURCE_DIR "/benchmarks/placement/costs/avx2/" + name + ".costs.hpp";
#endif
}

template <class Make>
void profile_model(const char* name, Make make) {
  const model m(make);
  lv::profile_options options;
  options.seconds_each = 0.05;
  options.progress = &lv::print_progress;
  const lv::profile_result r = lv::profile<box, all_backends>(m.pipeline(), m.samples(), header_of(name), options);
  std::printf("%s: %zu measured, %zu known before%s%s\n", name, r.measured, r.reused,
              r.stale.empty() ? "" : "; those on another machine are gone: ", r.stale.c_str());
  if (r.wholes.tried == 0) return;
  std::printf(
      "  of %zu plans the fastest takes %.1f us, %+.1f %% over the sum of its kernels by themselves, %+.1f %% in "
      "place\n",
      r.wholes.tried, 1e6 * r.wholes.kept.seconds, 100 * r.wholes.additive_error(),
      100 * (r.wholes.kept.seconds / r.wholes.sum_in_place - 1));
  for (const lv::tried_plan& p : r.wholes.plans)
    std::printf("  %-14s %10.1f us   %.3f of it\n", p.name.c_str(), 1e6 * p.seconds, p.of_kept);
}

/// A table before its whole plans were tried.
template <const lv::cost_table& Table>
inline constexpr lv::cost_table kernels_of{Table.machine, Table.kernels, Table.transfers, Table.rooflines, {}};

/// What a table says of kernels that nobody measured.
template <const lv::cost_table& Table>
inline constexpr lv::cost_table rooflines_of{Table.machine, {}, Table.transfers, Table.rooflines, {}};

/// Each backend of the processor first where it can, simd for what it lacks, against what the table chooses, by its
/// kernels alone, by rooflines alone and by the whole plans that were measured.
template <const lv::cost_table& Table, class Make>
void contest(const char* name, Make make, double seconds) {
  const model m(make);
  const auto samples = m.samples();
  using slots = lv::slots<1>;
  using processor = lv::target<lv::cpu<1>>;
  const auto simd = lv::deploy<processor, slots, lv::backends<lv::simd>>(m.pipeline());
  const auto onednn = lv::deploy<processor, slots, lv::backends<lv::onednn, lv::simd>>(m.pipeline());
  const auto eigen = lv::deploy<processor, slots, lv::backends<lv::eigen, lv::simd>>(m.pipeline());
  const auto by_kernels = lv::deploy<box, slots, all_backends, lv::costs<kernels_of<Table>>>(m.pipeline());
  const auto by_rooflines = lv::deploy<box, slots, all_backends, lv::costs<rooflines_of<Table>>>(m.pipeline());
  const auto chosen = lv::deploy<box, slots, all_backends, lv::costs<Table>>(m.pipeline());
  using output = typename decltype(simd)::output;
  const auto expected = std::make_unique<output>();
  simd(samples[0], *expected);

  const std::string machine(Table.machine.empty() ? "no machine" : Table.machine);
  std::printf("%s, costs of %s\n", name, machine.c_str());
  print_partition(decltype(chosen)::plan);
  const lv::additive_check check = lv::check_sum(chosen, Table, samples, seconds / 8);
  std::printf("  the sum of its units %10.1f us   the whole takes %+.1f %% of that more; %zu estimated, %zu unknown\n",
              1e6 * check.sum, 100 * check.error(), check.estimated, check.unknown);
  std::vector<contender> contenders{{"simd", simd, samples, *expected},
                                    {"onednn, else simd", onednn, samples, *expected},
                                    {"eigen, else simd", eigen, samples, *expected}};
  if (has_gpu()) {
    using gpu_first = lv::target<lv::vulkan<0>, lv::cpu<1>>;
    static const auto gpu = lv::deploy<gpu_first, slots, lv::backends<lv::spirv, lv::simd>>(m.pipeline());
    contenders.emplace_back("spirv, else simd", gpu, samples, *expected);
  }
  contenders.emplace_back("by kernels alone", by_kernels, samples, *expected);
  contenders.emplace_back("by rooflines alone", by_rooflines, samples, *expected);
  contenders.emplace_back("chosen", chosen, samples, *expected);
  compare(contenders, seconds);
}

}  // namespace placement
