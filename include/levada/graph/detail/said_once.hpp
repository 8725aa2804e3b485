// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/said_once.hpp: options of which each is said once: of two that say the same thing one would go unheard,
// or both would be added up.

#include <concepts>
#include <cstddef>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>

namespace levada::detail {

/// Options of which one is enough, by kind.
template <class One, class Other>
inline constexpr bool say_the_same = std::same_as<One, Other>;

/// Where an option says what one before it says, `mistake.operator()<First, Again>()`.
template <class Mistake>
consteval auto repeated_option(Mistake, type_list<>) {
  return no_mistake{};
}
template <class Mistake, class First, class... Rest>
consteval auto repeated_option(Mistake mistake, type_list<First, Rest...>) {
  constexpr bool again[] = {say_the_same<First, Rest>..., true};
  if constexpr (constexpr std::size_t at = first_true(again); at < sizeof...(Rest))
    return mistake.template operator()<First, type_at<type_list<Rest...>, at>>();
  else
    return repeated_option(mistake, type_list<Rest...>{});
}

}  // namespace levada::detail
