// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/profile/second_pass.hpp: whole plans against each other, by turns: those of one backend each, the one that
// the costs choose, and neighbours of the fastest. Knows no kernel: what a plan takes, it is told.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <levada/interop/profile/measure.hpp>
#include <levada/interop/profile/options.hpp>
#include <levada/plan/detail/neighbours.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

namespace levada {

namespace detail {

/// Runs some items; the seconds of one.
using timed_plan = std::function<double()>;

/// A ratio of times, and how far off its median may be.
struct paired_ratio {
  double ratio = 1;
  double doubt = 0;  ///< one standard error

  bool is_smaller() const { return ratio + 2 * doubt < 1; }
  bool is_larger() const { return ratio - 2 * doubt > 1; }
};

inline paired_ratio ratio_of(const std::vector<double>& ratios) {
  const cost all = summary_of(ratios);
  // The half of the middle half is 0.674 standard deviations of what is normal, and a median's error 1.253 of a mean's.
  return {all.seconds, 1.253 / 0.674 * all.spread / std::sqrt(static_cast<double>(ratios.size()))};
}

/// The times of `a` over those of `b`, pair by pair. Ends early where a few pairs say that `a` is slower.
inline paired_ratio compare(const timed_plan& a, const timed_plan& b, std::size_t pairs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < pairs; ++i) {
    double first = 0, second = 0;
    if (i % 2 == 0) first = a(), second = b();
    if (i % 2 != 0) second = b(), first = a();
    ratios.push_back(first / second);
    if (i + 1 >= 7 && i % 4 == 2 && ratio_of(ratios).is_larger()) break;
  }
  return ratio_of(ratios);
}

/// Keeps of some plans the one that is measured faster than the others. A difference within the noise goes to the plan
/// named first: those of one backend each, in their order, then the one by costs, then neighbours.
template <std::size_t N>
class second_pass {
 public:
  /// `make(parts)` is a partition of the processor as code, `seconds` about how long it may take.
  second_pass(const graph_info<N>& graph, std::span<const device_info> devices, std::span<const candidate> candidates,
              std::span<const backend_info> backends, const cost_table& table,
              std::function<timed_plan(const partition<N>&)> make, double seconds)
      : graph_(graph),
        devices_(devices),
        candidates_(candidates),
        backends_(backends),
        table_(table),
        costs_(graph, backends, table),
        make_(std::move(make)),
        seconds_(seconds),
        start_(std::chrono::steady_clock::now()) {}

  /// Hears of each plan that is tried.
  std::function<void(std::size_t tried, double part_of_time)> progress;

  /// The partition that was kept. None, without a unit, where the costs choose another device than the processor.
  partition<N> run(whole_result& result) {
    const partition<N> by_costs = plan_by_costs();
    if (covered_nodes(by_costs) != graph_.nodes.size() || !is_on_processor(by_costs)) return {};
    std::vector<rival> rivals = named_plans(by_costs);
    std::size_t best = 0;
    for (std::size_t i = 1; i < rivals.size(); ++i)
      if (is_faster(rivals[i].code, rivals[best].code)) best = i;
    rival kept = rivals[best];
    while (spent() < seconds_ && improve(kept, result)) {
    }
    // What was gained step by step has to be there in all.
    if (kept.name.empty() && !compare(kept.code, rivals[best].code, 3 * pairs).is_smaller()) kept = rivals[best];
    describe(kept, rivals, result);
    return kept.parts;
  }

 private:
  static constexpr std::size_t pairs = 25;

  struct rival {
    std::string name;
    partition<N> parts;
    timed_plan code;
  };

  partition<N> plan_by_costs() const {
    cost_table kernels = table_;
    kernels.wholes = {};
    return choose_partition(graph_, devices_, candidates_, backends_, kernels);
  }
  static bool is_on_processor(const partition<N>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [](const partition_unit& u) { return u.device.kind == device_kind::cpu; });
  }
  std::vector<rival> named_plans(const partition<N>& by_costs) {
    std::vector<rival> plans;
    const auto add = [&](std::string name, const partition<N>& parts) {
      const bool known =
          std::any_of(plans.begin(), plans.end(), [&](const rival& r) { return is_same(r.parts, parts); });
      if (known || covered_nodes(parts) != graph_.nodes.size() || !is_on_processor(parts)) return;
      plans.push_back({std::move(name), parts, made(parts)});
    };
    for (std::size_t b = 0; b < backends_.size(); ++b)
      if (is_used(b))
        add(std::string(backends_[b].name) + " first", one_backend_first(b, graph_, devices_, candidates_, backends_));
    add("by costs", by_costs);
    return plans;
  }
  bool is_used(std::size_t backend) const {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const candidate& c) { return c.backend == backend; });
  }

  /// Tries neighbours until one is faster, which is then kept. Those that promise less than nothing by far are left
  /// out.
  bool improve(rival& kept, whole_result& result) {
    const double whole = kept.code();
    for (const neighbour<N>& other : neighbours_of(kept.parts, graph_, candidates_, backends_, costs_)) {
      if (spent() > seconds_ || other.more_seconds > hopeless * whole) return false;
      if (was_tried(other.parts)) continue;
      rival next{{}, other.parts, made(other.parts)};
      if (!is_faster(next.code, kept.code)) continue;
      kept = std::move(next);
      ++result.better;
      return true;
    }
    return false;
  }

  /// Twice, since of many that are tried some are lucky once.
  static bool is_faster(const timed_plan& a, const timed_plan& b) {
    return compare(a, b, pairs).is_smaller() && compare(a, b, pairs).is_smaller();
  }

  double spent() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  timed_plan made(const partition<N>& parts) {
    tried_.push_back(parts);
    if (progress) progress(tried_.size(), std::min(1.0, spent() / seconds_));
    return make_(parts);
  }
  bool was_tried(const partition<N>& parts) const {
    return std::any_of(tried_.begin(), tried_.end(), [&](const partition<N>& t) { return is_same(t, parts); });
  }
  static bool is_same(const partition<N>& a, const partition<N>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  void describe(const rival& kept, const std::vector<rival>& rivals, whole_result& result) {
    for (const partition_unit& u : kept.parts)
      result.sum += (u.candidate == partition_unit::callable ? costs_.of_callable(u.first)
                                                             : costs_.of_run(u.backend, u.first, u.count))
                        .seconds;
    std::vector<double> times;
    for (const rival& r : rivals) {
      std::vector<double> ratios, its;
      for (std::size_t i = 0; i < pairs; ++i) {
        its.push_back(r.code());
        times.push_back(kept.code());
        ratios.push_back(its.back() / times.back());
      }
      result.plans.push_back(
          {r.name, summary_of(its).seconds, is_same(r.parts, kept.parts) ? 1 : ratio_of(ratios).ratio});
    }
    result.kept = summary_of(times);
    result.tried = tried_.size();
  }

  static constexpr double hopeless = 0.02;

  const graph_info<N>& graph_;
  std::span<const device_info> devices_;
  std::span<const candidate> candidates_;
  std::span<const backend_info> backends_;
  const cost_table& table_;
  const graph_costs<N> costs_;
  std::function<timed_plan(const partition<N>&)> make_;
  const double seconds_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<partition<N>> tried_;
};

}  // namespace detail
}  // namespace levada
