// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/type_list.hpp: a list of types looked up by index without recursion, for code in which stages are still
// types.

#include <cstddef>
#include <utility>

namespace levada {

template <class... T>
struct type_list {
  static constexpr std::size_t size = sizeof...(T);
};

template <class T>
struct type_tag {
  using type = T;
};

namespace detail {

template <std::size_t I, class T>
struct indexed_type {};

template <class Indices, class... T>
struct indexed_types;
template <std::size_t... I, class... T>
struct indexed_types<std::index_sequence<I...>, T...> : indexed_type<I, T>... {};

template <std::size_t I, class T>
type_tag<T> lookup(const indexed_type<I, T>*);

template <class List>
struct indexed_list;
template <class... T>
struct indexed_list<type_list<T...>> : indexed_types<std::index_sequence_for<T...>, T...> {};

template <class... A, class... B>
type_list<A..., B...> operator+(type_list<A...>, type_list<B...>);

/// The index of the first that is true, of facts about the types of a list; their number where none is.
template <std::size_t N>
consteval std::size_t first_true(const bool (&flags)[N]) {
  std::size_t i = 0;
  while (i < N && !flags[i]) ++i;
  return i;
}

}  // namespace detail

/// The `I`-th type of a list.
template <class List, std::size_t I>
using type_at = typename decltype(detail::lookup<I>(static_cast<const detail::indexed_list<List>*>(nullptr)))::type;

/// Two lists, one behind the other.
template <class A, class B>
using concatenated = decltype(detail::operator+(A{}, B{}));

}  // namespace levada
