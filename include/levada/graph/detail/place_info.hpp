// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/place_info.hpp: a place of a flattened pipeline as plain values: the node, and the value that it gives.

#include <cstddef>
#include <span>
#include <type_traits>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/feedback.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/pipeline.hpp>

namespace levada::detail {

template <class Stage>
inline constexpr bool is_source = false;
template <fixed_string Name, class F, concurrency C, class Out>
inline constexpr bool is_source<callable_stage<Name, F, C, written::source, Out>> = true;

template <class T>
consteval device_id pin_of() {
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return T::id;
}

template <class T>
constexpr value_info value_of(std::size_t producer) {
  value_info v{sizeof(T), alignof(T), element::other, {}, std::is_trivially_copyable_v<T>, producer};
  v.wire_bytes = wire_form_bytes<T>;
  if constexpr (any_tensor<T> || is_batch_tensor<T>) {
    v.type = element_of<typename T::value_type>;
    v.extents = shape::of(std::span<const std::size_t>(T::extents));
  }
  return v;
}

/// A view of all that the input has, in another shape.
template <class Op, class In>
consteval bool shows_all() {
  return Op::template output<In>::elements == In::elements;
}

/// What an op says of the memory of its output. Of a batch only what holds for all of its items together.
template <class Op, class In>
constexpr void describe_reuse(node_info& node) {
  using item = item_of<In>;
  constexpr bool is_batch = items_of<In> != 0;
  if constexpr (requires { Op::in_place; }) {
    node.reuses = Op::in_place ? reuse::in_place : reuse::none;
  } else if constexpr (requires { Op::template view_at<item>; }) {
    constexpr std::ptrdiff_t at = Op::template view_at<item>;
    if constexpr (at >= 0 && (!is_batch || shows_all<Op, item>())) {
      node.reuses = reuse::view;
      node.view_offset = static_cast<std::size_t>(at) * sizeof(typename item::value_type);
    }
  } else if constexpr (requires { Op::template joins_in_a_row<item>; }) {
    node.reuses = Op::template joins_in_a_row<item> && !is_batch ? reuse::joins : reuse::none;
  }
}

template <class Place>
constexpr node_info node_of() {
  using stage_type = typename Place::part;
  node_info node;
  node.name = stage_type::name.view();
  node.how = Place::call::value;
  node.pin = pin_of<typename Place::device>();
  if constexpr (Place::call::value == form::op) {
    using op_type = typename stage_type::op_type;
    node.kind = op_type::kind;
    node.fuses_as = op_kind_of<op_type>();
    using in = op_input_t<typename Place::in>;
    using item = item_of<in, op_type>;
    constexpr std::size_t items = items_of<in, op_type>;
    node.flops = static_cast<double>(op_type::template flops<item>) * (items == 0 ? 1 : items);
    for (const parameter_info& p : op_type::template parameters<item>)
      node.parameter_bytes += p.extents.elements() * size_of(p.type);
    if constexpr (!is_bounded_tensor<in>) describe_reuse<op_type, in>(node);
    if constexpr (requires { op_type::template order<item>; }) node.order = op_type::template order<item>;
    node.of_lambda = requires { op_type::template source<item>(); };
    if constexpr (requires { op_type::template holds<item>(); }) node.holds = op_type::template holds<item>();
    if constexpr (requires { op_type::queue; }) node.queue = op_type::queue;
  } else {
    node.kind = "callable";
    node.order = stage_type::how;
    node.border = border_of<stage_type>;
    using callable = typename stage_type::callable_type;
    node.takes_more_than_items = observes_missing<callable> || sides_of<callable, Place::call::value>::type::size != 0;
  }
  return node;
}

}  // namespace levada::detail
