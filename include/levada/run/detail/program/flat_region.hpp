// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/flat_region.hpp: ops in a row of a flattened pipeline as a region: its type, its kernel on a
// backend, and its ops as values.

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/op_info.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/op_region.hpp>
#include <levada/plan/detail/region_runs.hpp>

namespace levada::detail {

template <class Flat>
inline constexpr auto graph_of = Flat::describe();

template <class Flat>
inline constexpr region_runs runs_of(graph_of<Flat>);

// ---- as values ----

/// The op at a place; of no kind where no region can have it.
template <class Place>
constexpr op_info info_of_place() {
  if constexpr (Place::call::value == form::op) {
    using op = typename Place::part::op_type;
    using in = op_input_t<typename Place::in>;
    if constexpr (all_tensors<in> && !hold_pipelines<op> && op_takes<op, in>)
      if constexpr (any_tensor<typename op::template output<in>>) return describe_op<in, op>();
  }
  return {};
}
constexpr void connect_op(op_info& op, const node_info& node) {
  for_each_input(node, [&](std::size_t v) { op.from.push_back(static_cast<std::uint16_t>(v)); });
  op.to = static_cast<std::uint16_t>(node.out);
}
template <class Flat, std::size_t... Node>
consteval std::array<op_info, sizeof...(Node)> infos_of_nodes(std::index_sequence<Node...>) {
  std::array<op_info, sizeof...(Node)> infos{info_of_place<typename Flat::template node_place<Node>>()...};
  for (std::size_t n = 0; n < sizeof...(Node); ++n)
    if (!infos[n].kind.empty()) connect_op(infos[n], graph_of<Flat>.nodes[n]);
  return infos;
}
/// The ops of a flattened pipeline; those that no region can have are of no kind.
template <class Flat>
inline constexpr auto node_infos = infos_of_nodes<Flat>(std::make_index_sequence<Flat::nodes>{});

/// The backend says of values which regions it takes.
template <class Backend>
concept takes_regions = requires(const region_info& region) {
  { Backend::takes(region) } -> std::convertible_to<bool>;
};

/// The most ops of a region that is no chain.
inline constexpr std::size_t longest_region = 16;

/// The backend takes nodes in a row that are no chain.
template <class Flat, class Backend>
constexpr bool takes_region(std::size_t first, std::size_t count) {
  return Backend::takes(region_info({node_infos<Flat>.data() + first, count})) &&
         inputs_of_run(graph_of<Flat>, first, count).size() <= most_inputs;
}

/// The regions of a graph are looked for from so many nodes at a time: for each such part is a constant of its own,
/// since clang evaluates a million steps for one.
inline constexpr std::size_t nodes_of_part = 32;
template <class Flat>
inline constexpr std::size_t parts_of_nodes = (Flat::nodes + nodes_of_part - 1) / nodes_of_part;

/// Calls `visit(first, count)` for each region, chains left out, that the backend takes and that begins in a part.
template <class Flat, class Backend, class Visit>
constexpr void for_each_region(std::size_t part, Visit visit) {
  runs_of<Flat>.for_each_region(
      longest_region,
      [&](std::size_t first, std::size_t count) {
        if (takes_region<Flat, Backend>(first, count)) visit(first, count);
      },
      part * nodes_of_part, (part + 1) * nodes_of_part);
}

// ---- as types ----

template <class T>
struct operand_types : type_tag<type_list<T>> {};
template <class... T>
struct operand_types<std::tuple<T...>> : type_tag<type_list<T...>> {};

// What is found here are types that have the ops and the shapes in their names, and not the pipeline; so no function
// stands here, whose name would have it.

/// Of nodes in a row that are no chain the `I`-th, with its operands.
template <class Flat, std::size_t First, std::size_t Count, std::size_t I, class Operands>
struct op_in_region;
template <class Flat, std::size_t First, std::size_t Count, std::size_t I, std::size_t... K>
struct op_in_region<Flat, First, Count, I, std::index_sequence<K...>>
    : type_tag<region_op<typename Flat::template node_place<First + I>::part::op_type,
                         op_input_t<typename Flat::template node_place<First + I>::in>,
                         origin_in_run(graph_of<Flat>, First, Count, I, K)...>> {};
template <class In>
using operands_of = std::make_index_sequence<operand_types<op_input_t<In>>::type::size>;

/// The type of an input of a region, as the first op that takes it has it.
template <class Flat, std::size_t First, std::size_t Count, std::size_t Input>
using input_of_region = type_at<typename operand_types<op_input_t<typename Flat::template node_place<
                                    First + first_use_in_run(graph_of<Flat>, First, Count, Input).op>::in>>::type,
                                first_use_in_run(graph_of<Flat>, First, Count, Input).operand>;

/// Nodes in a row that are no chain, as a region.
template <class Flat, std::size_t First, class Ops, class Inputs>
struct region_of_nodes;
template <class Flat, std::size_t First, std::size_t... I, std::size_t... Input>
struct region_of_nodes<Flat, First, std::index_sequence<I...>, std::index_sequence<Input...>>
    : type_tag<
          op_region<type_list<input_of_region<Flat, First, sizeof...(I), Input>...>,
                    typename op_in_region<Flat, First, sizeof...(I), I,
                                          operands_of<typename Flat::template node_place<First + I>::in>>::type...>> {};
template <class Flat, std::size_t First, std::size_t Count>
using region_of_one_output =
    typename region_of_nodes<Flat, First, std::make_index_sequence<Count>,
                             std::make_index_sequence<inputs_of_run(graph_of<Flat>, First, Count).size()>>::type;

/// The same with the outputs that it has, if several.
template <class Flat, std::size_t First, std::size_t Count, class Region, class Outputs>
struct with_outputs : type_tag<Region> {};
template <class Flat, std::size_t First, std::size_t Count, class Inputs, class... RegionOps, std::size_t... O>
  requires(sizeof...(O) > 0)
struct with_outputs<Flat, First, Count, op_region<Inputs, RegionOps...>, std::index_sequence<O...>>
    : type_tag<op_region_of_outputs<
          Inputs, std::index_sequence<(outputs_of_run(graph_of<Flat>, First, Count)[O] - First)...>, RegionOps...>> {};
template <class Flat, std::size_t First, std::size_t Count>
using flat_region =
    typename with_outputs<Flat, First, Count, region_of_one_output<Flat, First, Count>,
                          std::make_index_sequence<outputs_of_run(graph_of<Flat>, First, Count).size()>>::type;

/// The inputs of a unit of a region.
template <class Inputs>
struct flowing_inputs;
template <class In>
struct flowing_inputs<type_list<In>> : type_tag<In> {};
template <class... In>
struct flowing_inputs<type_list<In...>> : type_tag<branch_items<In...>> {};

/// A chain of ops, and another region, as one kernel of a backend.
template <class Backend, class Flowing, class... Ops>
struct chain_on {
  using flowing = Flowing;
  using in = op_input_t<flowing>;
  using kernel = kernel_for_t<Backend, in, Ops...>;
  using out = flowing_output<in, Ops...>;
};
template <class Backend, class Region>
struct region_on {
  using flowing = typename flowing_inputs<typename Region::input_list>::type;
  using kernel = typename Backend::template region_kernel<Region>;
  using out = typename Region::out_type;
};

/// Ops in a row as one kernel.
template <class Flat, std::size_t First, std::size_t... I>
struct flat_run {
  template <class Backend, bool IsChain>
  struct find : type_tag<chain_on<Backend, typename Flat::template node_place<First>::in,
                                  typename Flat::template node_place<First + I>::part::op_type...>> {};
  template <class Backend>
  struct find<Backend, false> : type_tag<region_on<Backend, flat_region<Flat, First, sizeof...(I)>>> {};
  template <class Backend>
  using on = typename find<Backend, is_chain(graph_of<Flat>, First, sizeof...(I)) &&
                                        outputs_of_run(graph_of<Flat>, First, sizeof...(I)).empty()>::type;
};

}  // namespace levada::detail
