// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/type_list.hpp: a list of types looked up by index without recursion, for code in which stages are still
// types.

#include <array>
#include <cstddef>
#include <initializer_list>
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

/// Whether `T` is `Template` of some types.
template <class T, template <class...> class Template>
inline constexpr bool is_instance_of = false;
template <template <class...> class Template, class... T>
inline constexpr bool is_instance_of<Template<T...>, Template> = true;

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

/// Found once, whoever asks: compilers look at all types of a list for each that they find.
#if defined(__has_builtin) && __has_builtin(__type_pack_element)
template <class List, std::size_t I>
struct type_at_index;
template <class... T, std::size_t I>
struct type_at_index<type_list<T...>, I> : type_tag<__type_pack_element<I, T...>> {};
#else
template <class List, std::size_t I>
struct type_at_index : decltype(lookup<I>(static_cast<const indexed_list<List>*>(nullptr))) {};
#endif

/// Lists, one behind the other. Of many each type is looked up by its place: a list for each of them would make their
/// number squared.
template <class... Lists>
struct concatenation {
  struct place {
    std::size_t list = 0, index = 0;
  };
  static constexpr std::size_t size = [] {
    std::size_t sum = 0;
    for (const std::size_t n : {Lists::size...}) sum += n;
    return sum;
  }();
  static constexpr std::array<place, size> places = [] {
    std::array<place, size> all{};
    std::size_t list = 0, next = 0;
    for (const std::size_t n : {Lists::size...}) {
      for (std::size_t i = 0; i < n; ++i) all[next++] = {list, i};
      ++list;
    }
    return all;
  }();
  template <std::size_t I>
  using at =
      typename type_at_index<typename type_at_index<type_list<Lists...>, places[I].list>::type, places[I].index>::type;
  template <std::size_t... I>
  static type_list<at<I>...> all(std::index_sequence<I...>);
  using type = decltype(all(std::make_index_sequence<size>{}));
};
template <>
struct concatenation<> : type_tag<type_list<>> {};
template <class... A>
struct concatenation<type_list<A...>> : type_tag<type_list<A...>> {};
template <class... A, class... B>
struct concatenation<type_list<A...>, type_list<B...>> : type_tag<type_list<A..., B...>> {};
template <class... A, class... B, class... C>
struct concatenation<type_list<A...>, type_list<B...>, type_list<C...>> : type_tag<type_list<A..., B..., C...>> {};

template <class... A, class... B>
type_list<A..., B...> operator+(type_list<A...>, type_list<B...>);

/// Whether one is true, of facts about any number of types: a fold over hundreds is nested too deeply for compilers.
consteval bool any_true(std::initializer_list<bool> facts) {
  for (const bool fact : facts)
    if (fact) return true;
  return false;
}
/// How many are true.
consteval std::size_t count_true(std::initializer_list<bool> facts) {
  std::size_t count = 0;
  for (const bool fact : facts) count += fact ? 1u : 0u;
  return count;
}

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
using type_at = typename detail::type_at_index<List, I>::type;

/// Lists, one behind the other.
template <class... Lists>
using concatenated = typename detail::concatenation<Lists...>::type;

}  // namespace levada
