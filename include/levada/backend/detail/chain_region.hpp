// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/chain_region.hpp: a chain as a region, for kernels that compute both.

#include <cstddef>
#include <tuple>
#include <utility>

#include <levada/graph/detail/op_region.hpp>

namespace levada::detail {

/// Ops each of which takes what the one before it gives, as a region. The first may take several values.
template <class Inputs, class First, class Indices, class... Rest>
struct chain_region;
template <class... T, class First, std::size_t... I, class... Rest>
struct chain_region<type_list<T...>, First, std::index_sequence<I...>, Rest...> {
  template <std::size_t Count, class In, class... Ops>
  struct taken : type_tag<In> {};
  template <std::size_t Count, class In, class Op, class... Ops>
    requires(Count > 0)
  struct taken<Count, In, Op, Ops...> : taken<Count - 1, typename Op::template output<In>, Ops...> {};
  template <std::size_t Count, class In>
  using taken_t = typename taken<Count, In, First, Rest...>::type;

  template <class In, std::size_t... Input>
  static auto of(type_tag<In>, std::index_sequence<Input...>)
      -> op_region<type_list<T...>, region_op<First, In, Input...>,
                   region_op<Rest, taken_t<I + 1, In>, sizeof...(T) + I>...>;
};
template <class T>
struct values_taken : type_tag<type_list<T>> {};
template <class... T>
struct values_taken<std::tuple<T...>> : type_tag<type_list<T...>> {};
template <class In, class First, class... Rest>
using chain_region_t =
    decltype(chain_region<typename values_taken<In>::type, First, std::index_sequence_for<Rest...>, Rest...>::of(
        type_tag<In>(), std::make_index_sequence<values_taken<In>::type::size>()));

}  // namespace levada::detail
