// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/pipeline_time.hpp: what time a pipeline takes, whose regions run at different rates: from an item to the
// result that it is in, and the loads for each item that comes in; where it is known when items come, whether that
// keeps up with them.

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

/// How items come in.
struct item_arrival {
  double pace = 0;               ///< seconds from one to the next; 0: nobody said
  double waits = 0;              ///< for partners at other ports, at most
  std::string_view waits_for{};  ///< a port of which nobody said when its items come
};

/// Of a whole pipeline.
struct pipeline_time {
  double pace = 0;  ///< seconds between two items that come in; 0: nobody said
  double latency = 0;
  double waiting = 0;    ///< as much of it for later items
  timed_part longest{};  ///< the stage or way that takes most of it
  /// The largest load, in seconds for an item that comes in.
  expected_load bottleneck{};
  expected_load busiest{};    ///< of devices and serial stages
  expected_load fullest{};    ///< of the slots of a region
  double items_a_result = 1;  ///< that come in for one that comes out
  known_costs known{};
  std::string_view depends_on_items{};    ///< a rate that does: the loads are not known
  std::string_view waits_without_pace{};  ///< a rate that waits for items of which nobody knows when they come

  constexpr double interval() const { return std::max(bottleneck.seconds(), pace) * items_a_result; }
  /// What part of the items find no room, where they come faster than they are taken.
  constexpr double dropped() const {
    return pace > 0 && bottleneck.seconds() > pace ? 1 - pace / bottleneck.seconds() : 0;
  }
};

/// Work that takes all of the time between two items, or more, is never done with: what waits for it grows. Times are
/// known to a nanosecond.
constexpr bool keeps_up(const expected_load& load, double pace) { return load.seconds() < pace - 0.5e-9; }
/// How many slots keep up where an item stays so long.
constexpr std::size_t slots_needed(const expected_load& load, double pace) {
  auto slots = static_cast<std::size_t>(load.work / pace);
  while (!keeps_up({.of = load.of, .work = load.work, .workers = std::max<std::size_t>(slots, 1)}, pace)) ++slots;
  return std::max<std::size_t>(slots, 1);
}

namespace detail {

/// Adds up the regions of a pipeline.
class pipeline_sum {
 public:
  constexpr pipeline_sum(std::span<const expected_time> regions, std::span<const timed_rate> rates,
                         const item_arrival& arrival)
      : regions_(regions), rates_(rates), pace_(arrival.pace) {
    time_.pace = pace_;
    time_.latency = time_.waiting = arrival.waits;
    time_.waits_without_pace = arrival.waits_for;
  }

  constexpr pipeline_time sum() {
    for (std::size_t r = 0; r < regions_.size(); ++r) {
      if (r != 0) pass(rates_[r - 1]);
      add(regions_[r]);
    }
    for (const expected_load& load : loads_) {
      if (load.seconds() > time_.bottleneck.seconds() || time_.bottleneck.most.stage.empty()) time_.bottleneck = load;
      expected_load& largest = load.of == expected_load::slots ? time_.fullest : time_.busiest;
      if (load.seconds() > largest.seconds() || largest.most.stage.empty()) largest = load;
    }
    time_.items_a_result = 1 / runs_;
    return time_;
  }
  constexpr const constexpr_vector<expected_load>& loads() const { return loads_; }

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
      if (load.of == expected_load::slots && load.work == 0) continue;  // it only hands items on
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
                                         const item_arrival& arrival = {}) {
  return detail::pipeline_sum(regions, rates, arrival).sum();
}

}  // namespace levada
