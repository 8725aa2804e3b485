// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rated_tee.hpp: a branch beside the line that changes its rate, `frames | tee(batch<8> | sink<"log">(f))
// | ...`: a rate that gives each item as it took it. Nothing of the branch meets the line again, so it may give at any
// rate, and depend on its items.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/rated_fork.hpp>

namespace levada::detail {

/// The tee as a rate.
template <class Device, class B>
struct tee_rate {
  static constexpr fixed_string name = "tee";
  template <class In>
  using branch = rated_branch<Device, B, In>;

  template <class In>
  static consteval auto mistake_in() {
    using parts = typename branch<In>::parts;
    using found = decltype(mistake_of_regions<parts>());
    if constexpr (found::is_mistake)
      return found{};
    else if constexpr (!std::same_as<typename branch<In>::out, nothing_more>)
      return tee_has_to_end_in_a_sink<place<typename region<parts, branch<In>::rates>::parts,
                                            region<parts, branch<In>::rates>::parts::size - 1>::name,
                                      typename branch<In>::out>{};
    else
      return branch<In>::template mistake_of_region<0, false>();
  }
  template <class In>
    requires correct<decltype(mistake_in<In>())>
  using output = In;
  template <class In>
  static constexpr rate_ratio ratio{1, 1};
};

template <class Device, class B, class In, fixed_string Group>
struct group_in_rate<tee_rate<Device, B>, In, Group>
    : type_tag<group_in_branch<typename tee_rate<Device, B>::template branch<In>, Group>> {};

template <class B, class Device>
  requires some_change_rate<B>
struct flatten<tee_part<B>, Device> : type_tag<type_list<flat_part<rate_part<tee_rate<Device, B>>, void>>> {};

template <class B, class Visit>
  requires some_change_rate<B>
[[gnu::always_inline]] constexpr void for_each_stage(tee_part<B>& tee, Visit& visit) {
  visit(tee);
}

}  // namespace levada::detail
