// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/rated_tee.hpp: a branch beside the line that changes its rate (graph/detail/rated_tee.hpp), run by
// whoever carries items past it.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/rated_tee.hpp>
#include <levada/run/detail/deploy/rated_fork.hpp>

namespace levada::detail {

template <class Planner, class In, class Device, class B>
class tee_state {
  using branch = rated_branch<Device, B, In>;
  using regions_type = branch_regions<typename branch::parts, 0, Planner>;

 public:
  static constexpr std::size_t bytes = regions_type::bytes;
  static constexpr const auto& rings = regions_type::rings;

  explicit tee_state(const tee_part<B>& of) : tee_state(addresses_of_branch<branch, B>(const_cast<B&>(of.branch))) {}

  /// What the sink throws is the item's; the branch begins anew behind it.
  rate_step step(In& item, std::uint32_t parts, void* out) {
    try {
      regions_.take(item, parts, to_sink);
    } catch (...) {
      regions_.abandon();
      throw;
    }
    ::new (out) In(std::move(item));
    return {true, true, parts};
  }
  /// The branch alone has begun something.
  rate_step end(void*) {
    try {
      regions_.end(to_sink);
    } catch (...) {
    }
    regions_.abandon();
    return {};
  }
  std::size_t waiting() const { return 0; }
  void abandon(void*) { regions_.abandon(); }
  template <fixed_string Group>
  parameter_board<>& board() const {
    return regions_.template board<Group>();
  }

 private:
  explicit tee_state(const addresses_of_branch<branch, B>& at) : regions_(branch_addresses{at.stages, at.rates}) {}
  static constexpr auto to_sink = [](auto run, std::uint32_t) { run(nullptr); };

  regions_type regions_;
};

template <class Device, class B, class In, class Planner>
struct state_of_rate<tee_rate<Device, B>, In, Planner> : type_tag<tee_state<Planner, In, Device, B>> {
  static constexpr std::size_t bytes = tee_state<Planner, In, Device, B>::bytes;
  static constexpr const auto& rings = tee_state<Planner, In, Device, B>::rings;
  static const tee_part<B>& object(const void* part) { return *static_cast<const tee_part<B>*>(part); }
};

template <class Device, class B, class In, class Planner>
struct planned_rate_mistake<tee_rate<Device, B>, In, Planner> {
  using type = decltype(mistake_of_branch_plans<typename rated_branch<Device, B, In>::parts, 0, Planner>());
};

}  // namespace levada::detail
