// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/sourced_graph.hpp: the graph of a flattened pipeline with the sources of its lambdas, for whoever keeps
// or looks up costs. Others need none, and following a lambda takes a compiler its time.

#include <cstddef>
#include <utility>

#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/op_on.hpp>

namespace levada::detail {

template <class Place>
constexpr void add_source([[maybe_unused]] node_info& node) {
  if constexpr (Place::call::value == form::op) {
    using op_type = typename Place::part::op_type;
    using item = item_of<op_input_t<typename Place::in>, op_type>;
    if constexpr (requires { op_type::template source<item>(); }) node.source = op_type::template source<item>();
  }
}

template <class Flat>
inline constexpr auto sourced_graph = [] {
  auto graph = Flat::describe();
  [&]<std::size_t... Node>(std::index_sequence<Node...>) {
    (add_source<typename Flat::template node_place<Node>>(graph.nodes[Node]), ...);
  }(std::make_index_sequence<Flat::nodes>());
  return graph;
}();

}  // namespace levada::detail
