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

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/op_kind.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/op_rules.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

namespace detail {

/// Behind a stage that says nothing of it.
struct axes_unknown {};

/// The computing ops that leave the order as it is.
template <class Op>
concept keeps_axes = Op::fuses_as == op_kind::element_wise || Op::fuses_as == op_kind::broadcast;

template <class... Ends>
consteval auto common_axes(type_list<Ends...>);

/// The order at a place of a line: what its op says; stages that compute element by element, rates, and what is no
/// stage, leave that of the place before them. Only asked for where a stage takes one.
template <class Place>
consteval auto axes_at() {
  if constexpr (requires { Place::part::op_type::gives_axes; })
    return Place::part::op_type::gives_axes;
  else if constexpr (
      requires { requires keeps_axes<typename Place::part::op_type>; } || requires { typename Place::passes; })
    return axes_at<typename Place::behind>();
  else if constexpr (requires { Place::axes; })
    return Place::axes;
  else if constexpr (requires { typename Place::ends; })
    return common_axes(typename Place::ends{});
  else
    return axes_unknown{};
}

/// Of branches that are joined, where all give the same.
template <class... Ends>
consteval auto common_axes(type_list<Ends...>) {
  constexpr layout orders[] = {[] {
    if constexpr (std::same_as<decltype(axes_at<Ends>()), layout>)
      return axes_at<Ends>();
    else
      return layout::chw;
  }()...};
  constexpr bool known = (std::same_as<decltype(axes_at<Ends>()), layout> && ...);
  constexpr bool same = [](const auto& all) {
    for (const layout order : all)
      if (order != all[0]) return false;
    return true;
  }(orders);
  if constexpr (known && same)
    return orders[0];
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
  constexpr auto given = axes_at<Before>();
  if constexpr (!has_three_axes<in>)
    return no_mistake{};  // the shape rule says what is wrong
  else if constexpr (std::same_as<decltype(op_type::takes_axes), const axes_unstated>)
    return image_op_has_to_be_told_the_order_of_axes_hwc_or_chw<
        Stage::name, in, write<as_fixed_string<op_type::says_axes.size()>(op_type::says_axes)>>{};
  else if constexpr (std::same_as<decltype(given), const axes_unknown>)
    return no_mistake{};
  else if constexpr (std::same_as<decltype(op_type::takes_axes), const axes_of_no_picture>)
    return stage_takes_features_along_the_last_axis_flatten_the_picture_before_it<Before::name, given, Stage::name,
                                                                                  in>{};
  else if constexpr (given != op_type::takes_axes)
    return stage_takes_another_order_of_axes_than_the_one_before_gives<Before::name, given, Stage::name,
                                                                       op_type::takes_axes>{};
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
