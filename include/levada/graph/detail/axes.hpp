// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/axes.hpp: the order of a picture's axes, as far as the ops of a line say it. A tensor of three axes does
// not know it: an op of pictures is told, and two ops in a row that say different things are a mistake.
//
//   struct some_op {
//     static constexpr layout takes_axes = layout::hwc;  // the order of what it takes, and of what it gives
//     static constexpr layout gives_axes = layout::chw;
//   };

#include <concepts>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/op_kind.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/op_rules.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

namespace detail {

/// The order at a place of a line. Behind a stage that says nothing of it it is unknown.
template <layout Order>
struct axes_known {};
struct axes_unknown {};
template <layout Order>
consteval layout order_of_axes(axes_known<Order>) {
  return Order;
}

/// The computing ops that leave the order as it is.
template <class Op>
concept keeps_axes = Op::fuses_as == op_kind::element_wise || Op::fuses_as == op_kind::broadcast;

/// Of branches that are joined, where all give the same.
template <class First, class... Rest>
struct common_axes : std::conditional<(std::same_as<First, Rest> && ...), First, axes_unknown> {};

/// The order behind a part: what its op says; stages that compute element by element, rates, and what is no stage,
/// leave that before them.
template <class Part, class At, class Before>
consteval auto axes_behind() {
  if constexpr (requires { axes_known<Part::op_type::gives_axes>{}; })
    return axes_known<Part::op_type::gives_axes>{};
  else if constexpr (requires { Part::op_type::gives_axes; })
    return axes_unknown{};
  else if constexpr (
      requires { requires keeps_axes<typename Part::op_type>; } || requires { typename At::passes; })
    return typename Before::axes{};
  else if constexpr (requires { typename At::axes; })
    return typename At::axes{};
  else
    return axes_unknown{};
}

template <class In>
inline constexpr bool has_three_axes = false;
template <any_tensor In>
inline constexpr bool has_three_axes<In> = In::rank == 3;

/// What is wrong with the order of the axes that `Stage` takes.
template <class Stage, class Before>
consteval auto mistaken_axes() {
  using op_type = typename Stage::op_type;
  using in = item_of<op_input_t<typename Before::out>, op_type>;
  using given = typename Before::axes;
  if constexpr (!has_three_axes<in>)
    return no_mistake{};  // the shape rule says what is wrong
  else if constexpr (std::same_as<decltype(op_type::takes_axes), const axes_unstated>)
    return image_op_has_to_be_told_the_order_of_axes_hwc_or_chw<
        Stage::name, in, write<as_fixed_string<op_type::says_axes.size()>(op_type::says_axes)>>{};
  else if constexpr (std::same_as<given, axes_unknown>)
    return no_mistake{};
  else if constexpr (std::same_as<decltype(op_type::takes_axes), const axes_of_no_picture>)
    return stage_takes_features_along_the_last_axis_flatten_the_picture_before_it<Before::name, order_of_axes(given{}),
                                                                                  Stage::name, in>{};
  else if constexpr (!std::same_as<given, axes_known<op_type::takes_axes>>)
    return stage_takes_another_order_of_axes_than_the_one_before_gives<Before::name, order_of_axes(given{}),
                                                                       Stage::name, op_type::takes_axes>{};
  else
    return no_mistake{};
}

template <class Stage, class Before>
concept says_axes_wrong = requires {
  Stage::op_type::takes_axes;
  requires decltype(mistaken_axes<Stage, Before>())::is_mistake;
};

}  // namespace detail
}  // namespace levada
