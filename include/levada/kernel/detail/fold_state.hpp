// SPDX-License-Identifier: Apache-2.0
#pragma once
// kernel/detail/fold_state.hpp: what a `fold` carries from round to round: a value, or a std::array, std::pair or
// std::tuple of such states.

#include <array>
#include <tuple>
#include <utility>

#include <levada/kernel/detail/value.hpp>

namespace levada::kernel_detail {

template <class S>
concept compound_state = requires { std::tuple_size<S>::value; };

template <class S>
inline constexpr bool is_array_state = false;
template <class T, std::size_t N>
inline constexpr bool is_array_state<std::array<T, N>> = true;
template <class S>
inline constexpr bool is_pair_state = false;
template <class A, class B>
inline constexpr bool is_pair_state<std::pair<A, B>> = true;

/// The state of the same form whose values are `f` of the values of `states`, taken side by side, in order.
template <class F, class First, class... Rest>
constexpr auto map_states(F&& f, First& first, Rest&... rest) {
  if constexpr (compound_state<std::remove_const_t<First>>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto one = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        return map_states(f, std::get<K>(first), std::get<K>(rest)...);
      };
      using state = std::remove_const_t<First>;
      // Braces keep the order.
      if constexpr (is_array_state<state>) {
        return std::array{one(std::integral_constant<std::size_t, I>{})...};
      } else if constexpr (is_pair_state<state>) {
        return std::pair{one(std::integral_constant<std::size_t, I>{})...};
      } else {
        return std::tuple{one(std::integral_constant<std::size_t, I>{})...};
      }
    }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<First>>>{});
  } else {
    return f(first, rest...);
  }
}

/// Calls `f` with the values of `states`, taken side by side, in order.
template <class F, class First, class... Rest>
constexpr void for_each_state(F&& f, First& first, Rest&... rest) {
  if constexpr (compound_state<std::remove_const_t<First>>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto one = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        for_each_state(f, std::get<K>(first), std::get<K>(rest)...);
      };
      (one(std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<First>>>{});
  } else {
    f(first, rest...);
  }
}

/// No state, for a loop that only does something.
struct no_state {};

}  // namespace levada::kernel_detail
template <>
struct std::tuple_size<levada::kernel_detail::no_state> : std::integral_constant<std::size_t, 0> {};
