// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/pipeline_time.hpp: what time a pipeline takes, whose regions run at different rates: from an item to the
// result that it is in, and the loads for each item that comes in.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <levada/plan/detail/expected_time.hpp>
#include <levada/plan/detail/regions.hpp>

namespace levada {

/// What an item meets on its way to the next region.
struct timed_rate {
  std::string_view name;
  rate_ratio ratio{};         ///< 0 where it depends on the items
  double waits = 0;           ///< for so many later items, at most
  double timeout = 0;         ///< but not longer than so many seconds; 0: as long as they take
  bool calls_stages = false;  ///< it runs callables or pipelines itself, of which no cost is known here
};

/// Of a whole pipeline.
struct pipeline_time {
  double latency = 0;
  double waiting = 0;    ///< as much of it for later items
  timed_part longest{};  ///< the stage or way that takes most of it
  /// The largest load, in seconds for an item that comes in.
  expected_load bottleneck{};
  double items_a_result = 1;  ///< that come in for one that comes out
  known_costs known{};
  std::string_view depends_on_items{};    ///< a rate that does: the loads are not known
  std::string_view waits_without_pace{};  ///< a rate that waits for items of which nobody knows when they come

  constexpr double interval() const { return bottleneck.seconds() * items_a_result; }
};

namespace detail {

/// Adds up the regions of a pipeline.
class pipeline_sum {
 public:
  /// `pace`: seconds between two items that come in; 0: nobody said.
  constexpr pipeline_sum(std::span<const expected_time> regions, std::span<const timed_rate> rates, double pace)
      : regions_(regions), rates_(rates), pace_(pace) {}

  constexpr pipeline_time sum() {
    for (std::size_t r = 0; r < regions_.size(); ++r) {
      if (r != 0) pass(rates_[r - 1]);
      add(regions_[r]);
    }
    expected_time all;
    all.loads = static_cast<constexpr_vector<expected_load>&&>(loads_);
    if (!all.loads.empty()) time_.bottleneck = all.bottleneck();
    time_.items_a_result = 1 / runs_;
    return time_;
  }

 private:
  constexpr void pass(const timed_rate& rate) {
    if (rate.calls_stages) time_.known.add(cost_origin::unknown, rate.name);
    if (rate.ratio.takes == 0 || rate.ratio.gives == 0) {
      time_.depends_on_items = rate.name;
      return;
    }
    double wait = rate.waits * pace_ / runs_;
    if (rate.waits > 0 && pace_ <= 0 && rate.timeout <= 0) time_.waits_without_pace = rate.name;
    if (rate.timeout > 0) wait = pace_ > 0 ? std::min(wait, rate.timeout) : rate.timeout;
    if (rate.waits > 0) time_.waiting += wait, time_.latency += wait;
    runs_ *= static_cast<double>(rate.ratio.gives) / static_cast<double>(rate.ratio.takes);
    together_ = (together_ * rate.ratio.gives + rate.ratio.takes - 1) / rate.ratio.takes;
  }
  constexpr void add(const expected_time& region) {
    // The last of those that come together waits for the others.
    time_.latency += region.latency + static_cast<double>(together_ - 1) * region.interval();
    if (region.longest.seconds > time_.longest.seconds || time_.longest.stage.empty()) time_.longest = region.longest;
    time_.known.add(region.known);
    for (expected_load load : region.loads) {
      load.work *= runs_;
      load.most.seconds *= runs_;
      add(load);
    }
  }
  constexpr void add(const expected_load& load) {
    if (load.of == expected_load::device)
      for (expected_load& known : loads_)
        if (known.of == expected_load::device && known.at == load.at) {
          known.work += load.work;
          if (load.most.seconds > known.most.seconds) known.most = load.most;
          return;
        }
    loads_.push_back(load);
  }

  const std::span<const expected_time> regions_;
  const std::span<const timed_rate> rates_;
  const double pace_;
  double runs_ = 1;           ///< of the region, for an item that comes in
  std::size_t together_ = 1;  ///< its items that one item leads to
  constexpr_vector<expected_load> loads_;
  pipeline_time time_{};
};

}  // namespace detail

/// What time a pipeline takes whose regions take so long; `rates[r]` leads to region r + 1.
constexpr pipeline_time pipeline_time_of(std::span<const expected_time> regions, std::span<const timed_rate> rates,
                                         double pace = 0) {
  return detail::pipeline_sum(regions, rates, pace).sum();
}

}  // namespace levada
