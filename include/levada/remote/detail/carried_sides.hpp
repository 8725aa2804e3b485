// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/carried_sides.hpp: side data that goes between machines. What stages of a part elsewhere take of the
// side data before it goes there with the item, and what they attach comes back with the result: as one item, which a
// stage before the way makes and a stage behind it takes apart.

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/form.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/plan/detail/text.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada {
namespace detail {

template <class Side>
struct carried_side {
  Side value;
};
/// An item with side data of these types, each another.
template <class T, class... Side>
struct item_with_sides : carried_side<Side>... {
  T item;
};

template <class T, class... Side>
inline constexpr bool points_elsewhere<item_with_sides<T, Side...>> =
    points_elsewhere<T> || (points_elsewhere<Side> || ...);

template <class T, class Sides>
struct item_joined_with : type_tag<T> {};
template <class T, class First, class... Side>
struct item_joined_with<T, type_list<First, Side...>> : type_tag<item_with_sides<T, First, Side...>> {};

/// What crosses, apart.
template <class T>
struct carried {
  using item = T;
  using sides = type_list<>;
};
template <class T, class... Side>
struct carried<item_with_sides<T, Side...>> {
  using item = T;
  using sides = type_list<Side...>;
};

}  // namespace detail

template <has_wire_form T, detail::plain_on_the_wire... Side>
  requires(!detail::goes_as_it_lies<T>)
struct wire<detail::item_with_sides<T, Side...>> {
  using both = detail::item_with_sides<T, Side...>;
  static constexpr std::string_view name = "an item with side data";
  static constexpr std::size_t most_bytes = (wire<T>::most_bytes + ... + sizeof(Side));
  static void write(wire_writer& to, const both& from) {
    (to.write(static_cast<const detail::carried_side<Side>&>(from).value), ...);
    wire<T>::write(to, from.item);
  }
  static both read(wire_reader& from) {
    return {detail::carried_side<Side>{from.template read<Side>()}..., wire<T>::read(from)};
  }
};
template <has_wire_form T, detail::plain_on_the_wire... Side>
  requires(detail::goes_as_it_lies<T>)
struct wire<detail::item_with_sides<T, Side...>> {
  static constexpr std::size_t most_bytes = sizeof(detail::item_with_sides<T, Side...>);
  static constexpr bool as_it_lies = true;
};

namespace detail {

/// Appends the wire form of an item, and those of the side data with it.
template <class Item, class Text, class... Side>
constexpr void append_forms(Text& text, type_list<Side...>) {
  append_wire_form<typename carried<Item>::item>(text);
  (..., (text += ", with ", append_wire_form<Side>(text)));
}
template <has_wire_form Item, class Text>
constexpr void append_carried_form(Text& text) {
  append_forms<Item>(text, typename carried<Item>::sides{});
}

/// As a stage takes it that gives it on: a copy of what lies in one place.
template <class T>
using given_on = std::conditional_t<std::is_trivially_copyable_v<T>, const T&, T&&>;

template <class T, class... Side>
struct join_sides {
  item_with_sides<T, Side...> operator()(given_on<T> item, const Side&... side) const {
    return {carried_side<Side>{side}..., static_cast<given_on<T>>(item)};
  }
};
template <class T, class... Side>
struct part_sides {
  using both = item_with_sides<T, Side...>;
  T operator()(given_on<both> from, Side&... side) const {
    ((side = static_cast<const carried_side<Side>&>(from).value), ...);
    return static_cast<given_on<T>>(from.item);
  }
};

template <class T, class... Of>
inline constexpr bool is_side_there = (std::is_same_v<T, Of> || ...);

/// Each type once, in the order of its first.
template <class... T>
consteval auto each_once(type_list<T...>) {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return decltype((type_list<>{} + ... +
                     std::conditional_t<first_of_type<T, T...>() == I, type_list<T>, type_list<>>{})){};
  }(std::index_sequence_for<T...>{});
}
/// Of the parameters of stages behind their items: the side data that is attached or changed.
template <class... P>
consteval auto sides_attached(type_list<P...>) {
  return each_once(decltype((
      type_list<>{} + ... + std::conditional_t<attaches_side<P>, type_list<std::remove_cvref_t<P>>, type_list<>>{})){});
}
/// The side data that is taken, of that which is there.
template <class... P, class... Side>
consteval auto sides_taken(type_list<P...>, type_list<Side...>) {
  return each_once(decltype((type_list<>{} + ... +
                             std::conditional_t<is_side_there<std::remove_cvref_t<P>, Side...>,
                                                type_list<std::remove_cvref_t<P>>, type_list<>>{})){});
}

}  // namespace detail
}  // namespace levada
