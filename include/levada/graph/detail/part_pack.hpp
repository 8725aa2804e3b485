// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/part_pack.hpp: parts side by side, as those of a fork or of a graph are kept.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada::detail {

/// The `I`-th of parts side by side.
template <std::size_t I, class Part>
struct packed_part {
  Part part;
};
template <class Indices, class... Parts>
struct indexed_parts;
template <std::size_t... I, class... Parts>
struct indexed_parts<std::index_sequence<I...>, Parts...> : packed_part<I, Parts>... {};

/// Parts side by side.
template <class... Parts>
struct part_pack : indexed_parts<std::index_sequence_for<Parts...>, Parts...> {};

template <class... Parts>
[[gnu::always_inline]] constexpr auto make_pack(Parts&&... parts) {
  return part_pack<Parts...>{{{std::move(parts)}...}};
}
template <std::size_t I, class Part>
constexpr Part& packed_at(packed_part<I, Part>& packed) {
  return packed.part;
}
template <std::size_t I, class... Parts>
constexpr auto& pack_at(part_pack<Parts...>& pack) {
  return packed_at<I>(pack);
}

template <std::size_t... I, class... Parts, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(indexed_parts<std::index_sequence<I...>, Parts...>& parts,
                                                     Visit& visit) {
  [[maybe_unused]] const int in_order[] = {
      (for_each_stage(static_cast<packed_part<I, Parts>&>(parts).part, visit), 0)...};
}
template <class... Parts, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(part_pack<Parts...>& parts, Visit& visit) {
  for_each_stage(static_cast<indexed_parts<std::index_sequence_for<Parts...>, Parts...>&>(parts), visit);
}

/// The first of what was given that is no part.
template <class... Given>
struct first_no_part;
template <class First, class... Rest>
struct first_no_part<First, Rest...>
    : std::conditional_t<pipeline_part<First>, first_no_part<Rest...>, type_tag<First>> {};
template <>
struct first_no_part<> {};

}  // namespace levada::detail
