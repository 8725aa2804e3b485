// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/graph.hpp: any graph without a cycle, of named nodes:
//
//   graph(port<"x", T>, node<"a", "x">(f), node<"b", "a", "x">(join(g)), output<"y", "b">)
//
// A graph may have several ports and outputs: in a larger one it joins and forks, and a pipeline of its own takes and
// gives `named_items`. Graphs and forks nest.

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/block_mark.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/graph_names.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/node_order.hpp>
#include <levada/graph/detail/part_pack.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/stage.hpp>

namespace levada {

/// What enters a graph, by name.
template <fixed_string Name, class T>
struct port_part {};
template <fixed_string Name, class T, class... Pace>
inline constexpr port_part<Name, T> port{};

/// And when: `port<"frame", image, every<33_ms>>`.
template <fixed_string Name, class T, class... Pace>
struct paced_port {};
template <fixed_string Name, class T, class Pace, class... More>
inline constexpr paced_port<Name, T, Pace, More...> port<Name, T, Pace, More...>{};

/// A part as a node of a graph.
template <class Part, fixed_string Name, fixed_string... From>
struct node_part {
  Part part;
};
/// `node<"m3", "m1", "x">(part)` takes what the nodes or ports "m1" and "x" give; several are joined. Of a node that is
/// a graph of several outputs, "m1.y" is one.
template <fixed_string Name, fixed_string... From, pipeline_part Part>
[[gnu::always_inline]] constexpr auto node(Part part) {
  return node_part<Part, Name, From...>{std::move(part)};
}

/// What leaves a graph: what that node gives.
template <fixed_string Name, fixed_string From>
struct output_part {};
template <fixed_string Name, fixed_string From>
inline constexpr output_part<Name, From> output{};

/// Nodes that take what others before them give: any graph without a cycle.
template <class... Parts>
struct graph_part {
  detail::part_pack<Parts...> parts;
};

namespace detail {

template <class... B>
inline constexpr bool is_part<graph_part<B...>> = true;

template <class T>
inline constexpr bool is_port = false;
template <fixed_string Name, class T>
inline constexpr bool is_port<port_part<Name, T>> = true;
template <fixed_string Name, class T, class Pace>
inline constexpr bool is_port<paced_port<Name, T, Pace>> = is_pace<Pace>;
template <class T>
inline constexpr bool is_node = false;
template <class Part, fixed_string Name, fixed_string... From>
inline constexpr bool is_node<node_part<Part, Name, From...>> = sizeof...(From) <= most_inputs;
template <class T>
inline constexpr bool is_output = false;
template <fixed_string Name, fixed_string From>
inline constexpr bool is_output<output_part<Name, From>> = true;

template <class Flat>
struct ops_in;
template <class... Flat>
struct ops_in<type_list<Flat...>> {
  template <class Part>
  static constexpr bool is_op = requires { typename Part::op_type; };
  static constexpr bool only = !any_true({!is_op<typename Flat::part>...});
  static constexpr bool at_end = [] {
    constexpr bool stages[] = {false, is_stage<typename Flat::part>...}, ops[] = {false, is_op<typename Flat::part>...};
    std::size_t last = sizeof...(Flat);
    while (last != 0 && !stages[last]) --last;
    return ops[last];
  }();
};

/// A part of a graph as a value.
template <class Part>
inline constexpr graph_member member_of{};
template <fixed_string Name, class T>
inline constexpr graph_member member_of<port_part<Name, T>>{graph_member::port, Name.view()};
template <fixed_string Name, class T, class Pace>
inline constexpr graph_member member_of<paced_port<Name, T, Pace>>{graph_member::port, Name.view()};
template <class Part, fixed_string Name, fixed_string... From>
inline constexpr graph_member member_of<node_part<Part, Name, From...>>{graph_member::node, Name.view(),
                                                                        texts_of<From...>};
template <fixed_string Name, fixed_string From>
inline constexpr graph_member member_of<output_part<Name, From>>{graph_member::output, Name.view(), texts_of<From>};

template <class Part>
inline constexpr node_content content_of{};
template <class Part, fixed_string Name, fixed_string... From>
inline constexpr node_content content_of<node_part<Part, Name, From...>>{
    ops_in<typename flatten<Part, void>::type>::only, ops_in<typename flatten<Part, void>::type>::at_end};

/// The parts of a graph and who gives what each takes. Whether a node has the output that a name stands for is known
/// where the graph is flattened.
template <class... Parts>
struct graph_wiring {
  static constexpr std::size_t size = sizeof...(Parts);
  static constexpr graph_member members[size] = {member_of<Parts>...};
  static constexpr graph_names<size, count_names(members)> names{members, size,
                                                                 [](std::size_t, std::string_view) { return true; }};
};

template <class... Parts>
consteval auto order_of_nodes() {
  using wiring = graph_wiring<Parts...>;
  constexpr node_content contents[] = {content_of<Parts>...};
  return node_order<wiring::size>(wiring::members, contents, wiring::names);
}

/// Ports, then nodes, then outputs; at most `most_inputs` ports and as many outputs.
template <class... Parts>
consteval bool are_parts_of_a_graph() {
  constexpr std::size_t ports = count_true({is_port<Parts>...}), outputs = count_true({is_output<Parts>...});
  if (ports == 0 || outputs == 0 || ports > most_inputs || outputs > most_inputs) return false;
  std::size_t at = 0;
  for (const bool port : {is_port<Parts>...})
    if (port != (at++ < ports)) return false;
  at = 0;
  for (const bool output : {is_output<Parts>...})
    if (output != (at++ >= sizeof...(Parts) - outputs)) return false;
  return count_true({is_node<Parts>...}) == sizeof...(Parts) - ports - outputs;
}

}  // namespace detail

/// `graph(port<"x", T>, node<"a", "x">(f), node<"b", "a", "x">(g), output<"y", "b">)`: ports, nodes in an order in
/// which each follows those it takes from, and what leaves. It is a part, and a pipeline of its own. The nodes keep
/// their order, but for ops that take what one node gives to them alone: these follow it at once
/// (graph/detail/node_order.hpp).
template <class... Parts>
  requires(detail::are_parts_of_a_graph<Parts...>())
[[gnu::always_inline]] constexpr auto graph(Parts... parts) {
  constexpr auto order = detail::order_of_nodes<Parts...>();
  if constexpr (order.as_written) {
    return graph_part<Parts...>{detail::make_pack(std::move(parts)...)};
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      auto all = detail::make_pack(std::move(parts)...);
      return graph_part<type_at<type_list<Parts...>, order.at[I]>...>{
          detail::make_pack(std::move(detail::pack_at<order.at[I]>(all))...)};
    }
    (std::index_sequence_for<Parts...>{});
  }
}
template <class... Given, class Mistake = graph_is_ports_then_nodes_then_outputs<type_list<Given...>>>
  requires(!detail::are_parts_of_a_graph<Given...>())
auto graph(const Given&... given);

/// A callable is a stage of the node's name, or, of several nodes, a join.
template <fixed_string Name, fixed_string... From, class F>
  requires(!pipeline_part<F>)
[[gnu::always_inline]] constexpr auto node(F f) {
  if constexpr (sizeof...(From) == 1)
    return node<Name, From...>(stage<Name>(std::move(f)));
  else
    return node<Name, From...>(join<Name>(std::move(f)));
}

namespace detail {

template <class Part, fixed_string Name, fixed_string... From, class Device>
struct flatten<node_part<Part, Name, From...>, Device>
    : type_tag<concatenated<flat_marks<Device, block_node<Name, From...>>, typename flatten<Part, Device>::type>> {};

/// The two rims of a graph.
template <class Part>
struct graph_boundary {
  using ports = type_list<>;
  using names = type_list<>;
  using from = type_list<>;
};
template <fixed_string Name, class T>
struct graph_boundary<port_part<Name, T>> : graph_boundary<void> {
  using ports = type_list<port_part<Name, T>>;
};
template <fixed_string Name, class T, class Pace>
struct graph_boundary<paced_port<Name, T, Pace>> : graph_boundary<port_part<Name, T>> {};
template <fixed_string Name, fixed_string From>
struct graph_boundary<output_part<Name, From>> : graph_boundary<void> {
  using names = type_list<fixed_text<Name>>;
  using from = type_list<fixed_text<From>>;
};
template <class... Parts>
using flat_outputs = graph_end<decltype(as_texts(concatenated<typename graph_boundary<Parts>::names...>{})),
                               decltype(as_texts(concatenated<typename graph_boundary<Parts>::from...>{}))>;

template <class Device, fixed_string Name, class T>
flat_marks<Device, input_part<T>, block_begin<Name>> flat_ports(type_list<port_part<Name, T>>);
template <class Device, fixed_string... Name, class... T, std::size_t... I>
flat_marks<Device, ports_part<named_item<Name, T>...>, block_begin<"">, block_port<Name, T, I>...> flat_ports_of(
    type_list<port_part<Name, T>...>, std::index_sequence<I...>);
template <class Device, class First, class Second, class... Rest>
decltype(flat_ports_of<Device>(type_list<First, Second, Rest...>{}, std::index_sequence_for<First, Second, Rest...>{}))
    flat_ports(type_list<First, Second, Rest...>);

template <class Part, class Device>
struct flatten_node : flatten<Part, Device> {};
template <fixed_string Name, class T, class Device>
struct flatten_node<port_part<Name, T>, Device> : type_tag<type_list<>> {};
template <fixed_string Name, class T, class Pace, class Device>
struct flatten_node<paced_port<Name, T, Pace>, Device> : type_tag<type_list<>> {};
template <fixed_string Name, fixed_string From, class Device>
struct flatten_node<output_part<Name, From>, Device> : type_tag<type_list<>> {};
template <class Device, class... Parts>
struct flat_graph
    : type_tag<
          concatenated<decltype(flat_ports<Device>(concatenated<typename graph_boundary<Parts>::ports...>{})),
                       typename flatten_node<Parts, Device>::type..., flat_marks<Device, flat_outputs<Parts...>>>> {};
template <class... Parts, class Device>
struct flatten<graph_part<Parts...>, Device> : flat_graph<Device, Parts...> {};

template <class Part, fixed_string Name, fixed_string... From, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(node_part<Part, Name, From...>& node, Visit& visit) {
  for_each_stage(node.part, visit);
}
template <class... P, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(graph_part<P...>& graph, Visit& visit) {
  for_each_stage(graph.parts, visit);
}

}  // namespace detail
}  // namespace levada
