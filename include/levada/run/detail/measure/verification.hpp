// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/verification.hpp: what a deployment takes on this machine, beside what its costs say, as plain
// values: the answer of `app.verify(sample)` (run/promises.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <levada/core/error.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/device_words.hpp>
#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/plan_info.hpp>
#include <levada/plan/detail/promised_times.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/plan/detail/transfers.hpp>
#include <levada/run/detail/measure/statistics.hpp>

namespace levada {

/// A deployment was verified, and takes longer than it promises.
class budget_exceeded : public error {
 public:
  using error::error;
};

/// In seconds for an item; 0 where nothing was measured, or nobody knows.
struct verified_time {
  double expected = 0, measured = 0;

  /// How many times as long as expected; 0 where one of the two is not known.
  double ratio() const { return expected > 0 && measured > 0 ? measured / expected : 0; }
};
/// Of a unit, or of what is moved to or from a device.
struct verified_part : verified_time {
  std::string name, device;
  cost_origin origin = cost_origin::unknown;
};
struct verified_budget : verified_time {
  time_bound bound;

  bool is_exceeded() const { return measured > bound.most.seconds(); }
};

/// What a deployment took, beside its plan.
struct verification {
  std::vector<verified_part> parts;
  std::vector<verified_budget> budgets;
  verified_time latency, interval;  ///< of a lone item; between results, where items follow each other without a gap
  double pace = 0;                  ///< seconds between two results at the pace of the items; 0: none
  std::string costs_of, date;       ///< where and when the costs were measured
  std::string here;                 ///< this machine

  bool is_of_this_machine() const { return costs_of == here; }
  /// How many times as long the parts take together as their measured costs say; 0 where none was measured.
  double ratio() const {
    verified_time all;
    for (const verified_part& p : parts)
      if (p.origin == cost_origin::measured && p.ratio() > 0) all.expected += p.expected, all.measured += p.measured;
    return all.ratio();
  }
  /// The costs are not off by half or more, in either direction.
  bool costs_hold() const {
    const double off = ratio();
    return off == 0 || (off < 1.5 && off > 1 / 1.5);
  }
  /// The first budget that does not hold; null where all do.
  const verified_budget* exceeded() const {
    for (const verified_budget& b : budgets)
      if (b.is_exceeded()) return &b;
    return nullptr;
  }
  bool keeps_up() const { return pace == 0 || interval.measured < pace; }

  /// Throws levada::budget_exceeded where a budget or the pace does not hold.
  void or_throw() const {
    std::string text = "levada: verify: ";
    if (const verified_budget* const broken = exceeded()) {
      text += "budget of ";
      detail::append_bound(text, broken->bound);
      text += " exceeded: ";
      detail::append_time(text, broken->measured);
    } else if (!keeps_up()) {
      text += "a result needs ";
      detail::append_time(text, interval.measured);
      text += ", and items come for one every ";
      detail::append_time(text, pace);
    } else {
      return;
    }
    throw budget_exceeded(text);
  }
};

namespace detail {

/// The units of a region, and what is moved there, beside its stages and segments as they were measured from these on.
template <std::size_t N>
void add_parts(verification& all, const plan_info<N>& plan, std::span<const cost> costs,
               const session_statistics& measured, std::size_t& stage, std::size_t& segment) {
  const auto seconds = [](const distribution& d) { return static_cast<double>(d.median) * 1e-9; };
  const auto text_of = [&](device_id device) { return device_text(plan, device); };
  for (std::size_t u = 0; u < plan.units; ++u, ++stage)
    all.parts.push_back({{costs[u].seconds, seconds(measured.stages[stage].time)},
                         measured.stages[stage].name,
                         text_of(plan.segment[plan.unit[u].segment].device),
                         costs[u].origin});
  for (std::size_t s = 0; s < plan.segments; ++s, ++segment) {
    const device_id device = plan.segment[s].device;
    if (device.kind == device_kind::cpu) continue;
    const auto add = [&](std::string_view what, const distribution& d, device_id planned_transfer::*end) {
      verified_part way{{0, seconds(d)}, std::string(what), text_of(device), cost_origin::measured};
      for (const planned_transfer& t : transfers_of(plan))
        if (t.*end == device) {
          way.expected += t.seconds();
          if (t.price.origin != cost_origin::measured) way.origin = t.price.origin;
        }
      if (d.count != 0) all.parts.push_back(std::move(way));
    };
    add("upload", measured.segments[segment].upload, &planned_transfer::to);
    add("download", measured.segments[segment].download, &planned_transfer::from);
  }
}

/// What so many of 100 samples do not exceed.
inline double quantile_of(std::vector<double> samples, std::size_t percent) {
  if (samples.empty()) return 0;
  const std::size_t at = (samples.size() - 1) * percent / 100;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at), samples.end());
  return samples[at];
}

/// From what was promised, the time of each lone item that had a result, and the mean time between results.
inline verification verified(const promised_times& promised, const std::vector<double>& lone, double between) {
  verification all;
  const pipeline_time& time = promised.time;
  all.costs_of = promised.machine;
  all.date = promised.date;
  if (!promised.drops) all.pace = time.pace * time.items_a_result;
  // Later items came at once here; at their pace they take longer.
  const auto latency = [&](std::size_t percent) { return quantile_of(lone, percent) + time.waiting; };
  all.latency = {time.latency, lone.empty() ? 0 : latency(50)};
  all.interval = {time.bottleneck.seconds() * time.items_a_result, between};
  for (std::size_t b = 0; b < promised.bounds.size(); ++b) {
    const time_bound& bound = promised.bounds[b];
    const double interval = std::max(between, all.pace);
    all.budgets.push_back({{promised.expected[b], !bound.of_latency ? interval
                                                  : lone.empty()    ? 0
                                                                    : latency(bound.at == quantile::p95 ? 95 : 50)},
                           bound});
  }
  return all;
}

}  // namespace detail
}  // namespace levada
