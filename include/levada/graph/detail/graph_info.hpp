// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/graph_info.hpp: a pipeline as plain values. Everything behind this point plans over arrays of these;
// nothing there knows a stage type.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/device.hpp>
#include <levada/core/detail/shape.hpp>
#include <levada/graph/detail/form.hpp>
#include <levada/graph/detail/op_kind.hpp>
#include <levada/graph/detail/queue_info.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

namespace detail {

/// The longest form in which an item goes to another process. Of those that do not go as they lie
/// remote/detail/wire.hpp says it.
template <class T>
inline constexpr std::size_t wire_form_bytes = sizeof(T);

}  // namespace detail

/// An edge: what one node gives and others take. Value 0 of a pipeline with an input is that input.
struct value_info {
  static constexpr std::size_t nobody = ~std::size_t{0};

  std::size_t bytes = 0;
  std::size_t alignment = 1;
  element type = element::other;  ///< `other` unless the item is a tensor
  shape extents{};                ///< of a tensor
  bool trivial = false;           ///< trivially copyable: may cross to a device, needs no destruction
  std::size_t producer = nobody;  ///< the node that gives it; `nobody` for the pipeline's input
  std::size_t part_of = nobody;   ///< the value it is a part of: one of several ports or outputs
  std::size_t part_offset = 0;    ///< where it lies there
  std::size_t wire_bytes = 0;     ///< at most, where it goes to another process
  bool by_address = false;        ///< its address lies there: one of several items that a stage around gives
};

constexpr bool is_part_value(const value_info& value) { return value.part_of != value_info::nobody; }

/// Where the output of an op may lie, besides in a place of its own: see the head of graph/op.hpp.
enum class reuse : std::uint8_t {
  none,
  in_place,  ///< where an input of the same type lies that nobody takes any more
  view,      ///< inside its input, from a constant place on
  joins      ///< its inputs lie in it, one behind the other
};

/// A feedback is between a node that reads its state and one that writes it; feedbacks nest.
enum class loop_border : std::uint8_t { none, begins, ends };

/// A node takes at most so many values; a graph has at most so many ports, and so many outputs.
inline constexpr std::size_t most_inputs = 64;
/// A fork or a route has at most so many branches. Of a graph's so many run at once; further ones go with the shortest
/// of these.
inline constexpr std::size_t most_branches = 8;
/// The values that a node takes beside its first.
using more_inputs = bounded<std::uint16_t, most_inputs - 1>;

/// A stage as a value.
struct node_info {
  std::string_view name;
  std::string_view kind;     ///< the op's kind, or "callable"
  bool of_lambda = false;    ///< an op of which a user's lambda says what it computes
  std::uint64_t source = 0;  ///< the hash of that lambda's source, in a `sourced_graph`; 0 where it cannot be followed
  std::string_view holds{};  ///< the stages of the pipelines inside, if it holds some: "cut, fc / flatten"
  form how = form::map;
  op_kind fuses_as = op_kind::opaque;
  concurrency order = concurrency::parallel;
  device_id pin{};             ///< the device it is pinned to, if any
  std::string_view backend{};  ///< the backend that it is given to, if any
  std::uint16_t region = 0;    ///< with what the backend computes it as one: nodes of the same number; 0: nobody said
  bool split_after = false;    ///< a border follows it
  double flops = 0;            ///< per item; 0 where unknown
  std::size_t parameter_bytes = 0;
  std::size_t in = 0;   ///< the value it takes (its own for a source, which takes none)
  std::size_t out = 0;  ///< the value it gives (its input's for a sink, which gives none)
  more_inputs more;     ///< behind a fork: the others it takes
  reuse reuses = reuse::none;
  std::size_t view_offset = 0;  ///< of a view: the byte of its input that it begins with
  loop_border border = loop_border::none;
  bool takes_more_than_items = false;  ///< a callable that takes side inputs, or observes missing items
  const queue_info* queue = nullptr;   ///< of static storage, where its items wait at servers for who runs them
};

/// Calls `visit` with each value that a node, or a unit, takes.
template <class Taker, class Visit>
constexpr void for_each_input(const Taker& taker, Visit visit) {
  visit(taker.in);
  for (const std::size_t v : taker.more) visit(v);
}

constexpr bool is_op(const node_info& node) { return node.how == form::op; }
constexpr bool filters(const node_info& node) { return node.how == form::filter || node.how == form::consume_filter; }
/// It writes into its input or destroys it, so the input has to be the pipeline's own.
constexpr bool consumes(form how) {
  return how == form::in_place || how == form::consume || how == form::consume_filter;
}
constexpr bool consumes(const node_info& node) { return consumes(node.how); }

/// The first node that keeps a state between items, or may; their number where none does.
template <class Nodes>
constexpr std::size_t first_serial_node(const Nodes& nodes) {
  std::size_t n = 0;
  while (n < nodes.size() && nodes[n].order != concurrency::serial) ++n;
  return n;
}

template <class Graph>
constexpr bool has_serial_node(const Graph& graph) {
  return first_serial_node(graph.nodes) != graph.nodes.size();
}

/// Calls `visit(n)` for each node inside a feedback, those at its borders included.
template <class Nodes, class Visit>
constexpr void for_each_node_in_a_loop(Nodes& nodes, Visit visit) {
  std::size_t depth = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].border == loop_border::begins) ++depth;
    if (depth != 0) visit(n);
    if (nodes[n].border == loop_border::ends) --depth;
  }
}

/// A pipeline of at most `N` stages and parts of values as values: nodes in execution order, values in order of
/// production. A source is no node: it only feeds value 0.
template <std::size_t N>
struct graph_info {
  bounded<node_info, N> nodes;
  bounded<value_info, N + 1> values;
  std::string_view source;  ///< the name of the source that feeds value 0; empty where the caller does
  bool ends_in_sink = false;
  std::size_t result = 0;                          ///< the value that leaves, unless it ends in a sink
  std::size_t side_bytes = 0, side_alignment = 1;  ///< of the data attached to an item
  bool has_joined_outputs = false;                 ///< some region has several: plan/detail/apart_regions.hpp
};

/// Whether value `v` is a part of what a graph takes by several ports, which was there before it; else, where it is a
/// part, it is one of several outputs.
template <std::size_t N>
constexpr bool is_port_value(const graph_info<N>& graph, std::size_t v) {
  return graph.values[v].part_of < v;
}

}  // namespace levada
