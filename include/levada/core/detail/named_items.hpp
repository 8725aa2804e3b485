// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/named_items.hpp: items of several ports, or of several outputs, that travel as one.

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>

namespace levada {

/// An item and the name it goes by.
template <fixed_string Name, class T>
struct named_item {
  using item = T;
  static constexpr std::string_view name = Name.view();
};

/// Items side by side, in the order of their names: `named_items<named_item<"left", A>, named_item<"right", B>>{a, b}`,
/// and `.get<"left">()`.
template <class... Named>
struct named_items;

namespace detail {

template <class... Named>
consteval std::size_t index_of_name(std::string_view name) {
  std::size_t index = sizeof...(Named), i = 0;
  ((index = index == sizeof...(Named) && Named::name == name ? i : index, ++i), ...);
  return index;
}

}  // namespace detail

template <class Last>
struct named_items<Last> {
  typename Last::item first;

  static constexpr std::size_t size = 1;
  static consteval std::size_t index_of(std::string_view name) { return detail::index_of_name<Last>(name); }
  template <std::size_t I>
  static consteval std::size_t offset() {
    return 0;
  }
  template <std::size_t I>
  constexpr auto& at() {
    return first;
  }
  template <std::size_t I>
  constexpr const auto& at() const {
    return first;
  }
};

template <class First, class Next, class... Rest>
struct named_items<First, Next, Rest...> {
  using rest_type = named_items<Next, Rest...>;

  typename First::item first;
  rest_type rest;

  constexpr named_items() = default;
  /// One for each name.
  template <class A, class... B>
    requires(sizeof...(B) == 1 + sizeof...(Rest) && std::is_constructible_v<typename First::item, A>)
  constexpr named_items(A&& a, B&&... b) : first(std::forward<A>(a)), rest{std::forward<B>(b)...} {}

  static constexpr std::size_t size = 2 + sizeof...(Rest);
  /// `size` where there is none of that name.
  static consteval std::size_t index_of(std::string_view name) {
    return detail::index_of_name<First, Next, Rest...>(name);
  }

  /// Where the `I`-th item lies.
  template <std::size_t I>
  static consteval std::size_t offset() {
    if constexpr (I == 0) {
      return 0;
    } else {
      constexpr std::size_t end = sizeof(typename First::item), alignment = alignof(rest_type);
      return (end + alignment - 1) / alignment * alignment + rest_type::template offset<I - 1>();
    }
  }
  template <std::size_t I>
  constexpr auto& at() {
    if constexpr (I == 0)
      return first;
    else
      return rest.template at<I - 1>();
  }
  template <std::size_t I>
  constexpr const auto& at() const {
    if constexpr (I == 0)
      return first;
    else
      return rest.template at<I - 1>();
  }

  template <fixed_string Name>
    requires(index_of(Name.view()) < size)
  constexpr auto& get() {
    return at<index_of(Name.view())>();
  }
  template <fixed_string Name>
    requires(index_of(Name.view()) < size)
  constexpr const auto& get() const {
    return at<index_of(Name.view())>();
  }
};

template <class T>
inline constexpr bool is_named_items = false;
template <class... Named>
inline constexpr bool is_named_items<named_items<Named...>> = true;

namespace detail {

/// The index of a port among those of a session's items; their number where there is none of that name.
template <class Item, fixed_string Port>
inline constexpr std::size_t port_of = Item::index_of(Port.view());

template <class Item, fixed_string Port>
consteval bool has_port() {
  if constexpr (is_named_items<Item>)
    return port_of<Item, Port> != Item::size;
  else
    return false;
}

/// Their ports meet by capture times (graph/sync.hpp), not by number.
template <class Item>
inline constexpr bool meets_by_time = false;

}  // namespace detail

}  // namespace levada
