// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/twelve_stages.hpp: a line of twelve stages with a state each that take as long as each other, to be balanced over
// the processor, a simulated device and the processor again by the throughput objective.

#include <cstdint>
#include <utility>

#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/simulated.hpp>

namespace levada::test {

/// Each stage: `wait()`, and a number that depends on all items before.
template <class Wait>
struct counting_stage {
  Wait wait;
  std::uint64_t seen = 0;
  std::uint64_t operator()(const std::uint64_t& item) {
    wait();
    return item * 3 + ++seen;
  }
};

inline constexpr kernel_cost costs_of_twelve[] = {{"callable", "s(8 bytes) -> 8 bytes", 1e-3}};
inline constexpr transfer_cost ways_of_twelve[] = {{cpu<2>::id, simulated<0>::id, 1e-6, 0},
                                                   {simulated<0>::id, cpu<2>::id, 1e-6, 0}};
inline constexpr cost_table table_of_twelve{
    .machine = "twelve of 1 ms", .kernels = costs_of_twelve, .transfers = ways_of_twelve};

/// The first and the last are pinned to the processor, which has two workers.
template <class Wait>
auto twelve_stages(Wait wait) {
  const auto one = [&] { return stage<"s">(counting_stage<Wait>{wait}); };
  return input<std::uint64_t> | on<cpu<2>>(one()) | one() | one() | one() | one() | one() | one() | one() | one() |
         one() | one() | on<cpu<2>>(one());
}

template <class Wait>
auto deploy_twelve(Wait wait) {
  return deploy<target<cpu<2>, simulated<0>>, costs<table_of_twelve, objective::throughput>>(twelve_stages(wait));
}

/// cpu | simulated | cpu, four stages for each of the three that work.
template <class App>
inline constexpr bool is_balanced = [] {
  const auto& plan = App::plan;
  return plan.segments == 3 && plan.segment[0].device == cpu<2>::id && plan.segment[1].device == simulated<0>::id &&
         plan.segment[1].count == 4 && plan.segment[2].device == cpu<2>::id;
}();

}  // namespace levada::test
