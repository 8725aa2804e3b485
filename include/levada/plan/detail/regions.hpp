// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/regions.hpp: the plan of a pipeline that changes its rate: one for each region, and the rates between
// them.

#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>

#include <levada/graph/detail/rate.hpp>

namespace levada {

/// A ring inside a fork or a graph that changes its rate: where items wait for those of other branches.
struct planned_ring {
  std::string_view at;    ///< "fork", or the node or output of a graph
  std::size_t index = 0;  ///< the branch, or which of those that the node takes
  ring_size
      /// `room` is what it has; `least`, where branches paused; not less than it where a period is too long to be
      /// counted
      size;
  std::size_t item_bytes = 0;  ///< of one place
};

/// What leads to a region.
struct planned_rate {
  std::string_view name;
  rate_ratio ratio;       ///< 0 where it depends on the items, as with chunks of any length
  std::size_t bytes = 0;  ///< of what it holds for a session: the branches of a fork that change their rate
  std::span<const planned_ring> rings{};  ///< of it and all that is inside
};

/// The repetition vector of synchronous dataflow (Lee and Messerschmitt 1987): the least numbers of items that the
/// regions run in one period. `rates[r]` leads to region r. All 0 where a rate is not known.
template <std::size_t Regions>
constexpr std::array<std::size_t, Regions> repetition_vector(const std::array<planned_rate, Regions>& rates) {
  std::array<std::size_t, Regions> repeats{};
  repeats[0] = 1;
  for (std::size_t r = 1; r < Regions; ++r) {
    const rate_ratio ratio = rates[r].ratio;
    if (ratio.takes == 0 || ratio.gives == 0) return {};
    // repeats[r] * takes = repeats[r - 1] * gives
    const std::size_t factor = ratio.takes / std::gcd(repeats[r - 1] * ratio.gives, ratio.takes);
    for (std::size_t before = 0; before < r; ++before) repeats[before] *= factor;
    repeats[r] = repeats[r - 1] * ratio.gives / ratio.takes;
  }
  return repeats;
}

/// The plans of the regions in order, and what there is in all.
template <class... Plans>
struct plan_of_regions {
  static constexpr std::size_t regions = sizeof...(Plans);

  std::tuple<Plans...> region;
  std::array<planned_rate, regions> rate;  ///< what leads to each; nothing leads to the first
  std::array<std::size_t, regions> repetitions = repetition_vector(rate);

  std::size_t segments = sum([](const auto& plan) { return plan.segments; });
  std::size_t bytes_in_flight = sum([](const auto& plan) { return plan.bytes_in_flight; });
  std::size_t bytes_scratch = sum([](const auto& plan) { return plan.bytes_scratch; });
  std::size_t bytes_weights = sum([](const auto& plan) { return plan.bytes_weights; });
  std::size_t bytes_rates = [](const auto& rates) {
    std::size_t bytes = 0;
    for (const planned_rate& r : rates) bytes += r.bytes;
    return bytes;
  }(rate);
  std::size_t bytes_total = bytes_in_flight + bytes_scratch + bytes_weights + bytes_rates;

 private:
  template <class Count>
  constexpr std::size_t sum(Count count) const {
    return std::apply([&](const auto&... plan) { return (std::size_t{0} + ... + count(plan)); }, region);
  }
};

}  // namespace levada
