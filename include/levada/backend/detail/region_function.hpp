// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/region_function.hpp: the functions of several element-wise ops as one function, in which the result of
// each op stays in a register. The ops may form any graph; for a chain it is `composed` (kernel/detail/composed.hpp).
// Where they stand behind an op with weights, its results are the first of their operands.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/op_region.hpp>
#include <levada/kernel/detail/value.hpp>

namespace levada::detail {

template <std::size_t I, class First, class... Rest>
constexpr const auto& value_at(const First& first, const Rest&... rest) {
  if constexpr (I == 0)
    return first;
  else
    return value_at<I - 1>(rest...);
}

/// What a function made of values: beside those of the kernel language one of them, be it a literal or not.
template <class Made, class... V>
constexpr auto as_value(const Made& made, const V&... values) {
  using namespace kernel_detail;
  if constexpr ((is_value<V> || ...))
    return lift<stored_t<Made>>(first_value(values...), made);
  else
    return made;
}

/// A step: a function, and the numbers of the values that it is called with.
template <class F, class Origins>
struct function_step;

/// Called with the inputs of the region. Each step gives one more value, numbered behind the values before it; the
/// function returns the last value. `Steps`: each a function_step. (No tuple: see `with_functions` of
/// backend/simd/detail/tail.hpp.)
template <class... Steps>
struct region_function;

template <class F, std::size_t... From>
struct region_function<function_step<F, std::index_sequence<From...>>> {
  [[no_unique_address]] F last;

  template <class... V>
  constexpr auto operator()(const V&... values) const {
    return last(value_at<From>(values...)...);
  }
};
template <class F, std::size_t... From, class... Rest>
  requires(sizeof...(Rest) > 0)
struct region_function<function_step<F, std::index_sequence<From...>>, Rest...> {
  [[no_unique_address]] F first;
  [[no_unique_address]] region_function<Rest...> rest;

  template <class... V>
  constexpr auto operator()(const V&... values) const {
    return rest(values..., as_value(first(value_at<From>(values...)...), values...));
  }
};

template <class... Steps, class F>
constexpr region_function<Steps...> make_region_function(F f) {
  return {std::move(f)};
}
template <class... Steps, class F, class... Rest>
  requires(sizeof...(Rest) > 0)
constexpr region_function<Steps...> make_region_function(F f, Rest... rest) {
  return [&]<class First, class... Behind>(type_list<First, Behind...>) {
    return region_function<First, Behind...>{std::move(f), make_region_function<Behind...>(std::move(rest)...)};
  }(type_list<Steps...>{});
}

/// The function of an element-wise op.
template <class Op>
using function_of = std::remove_cvref_t<decltype(std::declval<const Op&>().function)>;

template <class F>
using as_it_is = F;

/// The ops of a region behind its first `Join` as one function: of what the last of those gives, if there are any, and
/// of the region's inputs. `Form<F>` is what stands for the function of an op.
template <class Region, std::size_t Join, template <class> class Form = as_it_is,
          class Behind = std::make_index_sequence<Region::ops - Join>>
struct function_behind;
template <class Region, std::size_t Join, template <class> class Form, std::size_t... B>
struct function_behind<Region, Join, Form, std::index_sequence<B...>> {
  template <std::size_t I>
  using op = type_at<typename Region::op_list, Join + I>;

  /// The number of an operand among the function's values.
  static constexpr std::size_t number(std::size_t origin) {
    if (Join == 0) return origin;
    if (origin < Region::inputs) return 1 + origin;
    return origin - Region::inputs + 1 == Join ? 0 : 1 + origin - Join;
  }
  template <std::size_t... From>
  static auto renumbered(std::index_sequence<From...>) -> std::index_sequence<number(From)...>;
  template <std::size_t I>
  using form = Form<function_of<typename op<I>::op_type>>;
  template <std::size_t I>
  using step = function_step<form<I>, decltype(renumbered(typename op<I>::origins{}))>;
  using type = region_function<step<B>...>;

  /// Of all ops of the region.
  static constexpr type make(const auto&... ops) {
    const auto list = std::tie(ops...);
    return make_region_function<step<B>...>(form<B>{std::get<Join + B>(list).function}...);
  }

  /// Whether some of these ops take that input of the region.
  static constexpr bool reads(std::size_t input) {
    const auto among = [&]<std::size_t... From>(std::index_sequence<From...>) { return ((From == input) || ...); };
    return (among(typename op<B>::origins{}) || ...);
  }
};

}  // namespace levada::detail
