// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/part_pack.hpp: parts side by side, as those of a fork or of a graph are kept.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada::detail {

/// Parts side by side.
template <class... Parts>
struct part_pack;
template <class First>
struct part_pack<First> {
  First first;
};
template <class First, class... Rest>
struct part_pack<First, Rest...> {
  First first;
  part_pack<Rest...> rest;
};

template <class Part>
[[gnu::always_inline]] constexpr auto make_pack(Part&& part) {
  return part_pack<Part>{std::move(part)};
}
template <class First, class Second, class... Rest>
[[gnu::always_inline]] constexpr auto make_pack(First&& first, Second&& second, Rest&&... rest) {
  return part_pack<First, Second, Rest...>{std::move(first), make_pack(std::move(second), std::move(rest)...)};
}
template <std::size_t I, class... Parts>
constexpr auto& pack_at(part_pack<Parts...>& pack) {
  if constexpr (I == 0)
    return pack.first;
  else
    return pack_at<I - 1>(pack.rest);
}

template <class First, class... Rest, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(part_pack<First, Rest...>& parts, Visit& visit) {
  for_each_stage(parts.first, visit);
  if constexpr (sizeof...(Rest) > 0) for_each_stage(parts.rest, visit);
}

/// The first of what was given that is no part.
template <class... Given>
struct first_no_part;
template <class First, class... Rest>
struct first_no_part<First, Rest...> : std::conditional_t<is_part<First>, first_no_part<Rest...>, type_tag<First>> {};
template <>
struct first_no_part<> {};

}  // namespace levada::detail
