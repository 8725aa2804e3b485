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

template <class Flat, std::size_t Node>
consteval op_info info_of_node() {
  using place = typename Flat::template node_place<Node>;
  if constexpr (place::call::value == form::op) {
    using op = typename place::part::op_type;
    using in = op_input_t<typename place::in>;
    if constexpr (all_tensors<in> && !hold_pipelines<op> && op_takes<op, in>)
      if constexpr (any_tensor<typename op::template output<in>>) {
        constexpr const node_info& node = graph_of<Flat>.nodes[Node];
        op_info info = describe_op<in, op>();
        for_each_input(node, [&](std::size_t v) { info.from.push_back(static_cast<std::uint16_t>(v)); });
        info.to = static_cast<std::uint16_t>(node.out);
        return info;
      }
  }
  return {};
}
template <class Flat, std::size_t... Node>
consteval std::array<op_info, sizeof...(Node)> infos_of_nodes(std::index_sequence<Node...>) {
  return {info_of_node<Flat, Node>()...};
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

/// Calls `visit(first, count)` for each region, chains left out, that the backend takes.
template <class Flat, class Backend, class Visit>
constexpr void for_each_region(Visit visit) {
  runs_of<Flat>.for_each_region(longest_region, [&](std::size_t first, std::size_t count) {
    if (takes_region<Flat, Backend>(first, count)) visit(first, count);
  });
}

// ---- as types ----

template <class T>
struct operand_types : type_tag<type_list<T>> {};
template <class... T>
struct operand_types<std::tuple<T...>> : type_tag<type_list<T...>> {};

/// Nodes in a row that are no chain.
template <class Flat, std::size_t First, std::size_t Count>
struct flat_region {
  static constexpr const auto& graph = graph_of<Flat>;
  static constexpr auto inputs = inputs_of_run(graph, First, Count);
  template <std::size_t I>
  using place = typename Flat::template node_place<First + I>;
  template <std::size_t I>
  using op_type = typename place<I>::part::op_type;
  template <std::size_t I>
  using in_type = op_input_t<typename place<I>::in>;

  static consteval std::size_t operand(const node_info& node, std::size_t k) {
    return k == 0 ? node.in : node.more[k - 1];
  }
  /// Where an operand of an op comes from, as `region_op` counts.
  static consteval std::size_t origin(std::size_t op, std::size_t k) {
    const std::size_t v = operand(graph.nodes[First + op], k);
    const auto at = std::find(inputs.begin(), inputs.end(), v);
    if (at != inputs.end()) return static_cast<std::size_t>(at - inputs.begin());
    return inputs.size() + graph.values[v].producer - First;
  }
  struct use {
    std::size_t op, operand;
  };
  /// The first operand that is that input.
  static consteval use first_use(std::size_t input) {
    for (std::size_t i = 0; i < Count; ++i)
      for (std::size_t k = 0; k <= graph.nodes[First + i].more.size(); ++k)
        if (operand(graph.nodes[First + i], k) == inputs[input]) return {i, k};
    return {};
  }

  template <std::size_t Input>
  static consteval auto input_type() {
    constexpr use at = first_use(Input);
    return type_tag<type_at<typename operand_types<in_type<at.op>>::type, at.operand>>{};
  }
  template <std::size_t I, std::size_t... K>
  static consteval auto op_of(std::index_sequence<K...>) {
    return type_tag<region_op<op_type<I>, in_type<I>, origin(I, K)...>>{};
  }
  template <std::size_t... Input, std::size_t... I>
  static consteval auto region_of(std::index_sequence<Input...>, std::index_sequence<I...>) {
    return type_tag<op_region<type_list<typename decltype(input_type<Input>())::type...>,
                              typename decltype(op_of<I>(
                                  std::make_index_sequence<operand_types<in_type<I>>::type::size>{}))::type...>>{};
  }
  using type =
      typename decltype(region_of(std::make_index_sequence<inputs.size()>{}, std::make_index_sequence<Count>{}))::type;
  using out = typename type::out_type;

  template <std::size_t... Input>
  static branch_items<type_at<typename type::input_list, Input>...> flowing_of(std::index_sequence<Input...>);
  static consteval auto find_flowing() {
    if constexpr (inputs.size() == 1)
      return type_tag<type_at<typename type::input_list, 0>>{};
    else
      return type_tag<decltype(flowing_of(std::make_index_sequence<inputs.size()>{}))>{};
  }
  /// What a unit of it takes.
  using flowing = typename decltype(find_flowing())::type;
  template <class Backend>
  using kernel = typename Backend::template region_kernel<type>;
};

/// Ops in a row as one kernel: a chain, or another region.
template <class Flat, std::size_t First, std::size_t... I>
struct flat_run {
  template <class Backend>
  struct chain {
    using flowing = typename Flat::template node_place<First>::in;
    using in = op_input_t<flowing>;
    using kernel = kernel_for_t<Backend, in, typename Flat::template node_place<First + I>::part::op_type...>;
    using out = flowing_output<in, typename Flat::template node_place<First + I>::part::op_type...>;
  };
  template <class Backend>
  struct region {
    using of = flat_region<Flat, First, sizeof...(I)>;
    using flowing = typename of::flowing;
    using kernel = typename of::template kernel<Backend>;
    using out = typename of::out;
  };
  template <class Backend>
  using on = std::conditional_t<is_chain(graph_of<Flat>, First, sizeof...(I)), type_tag<chain<Backend>>,
                                type_tag<region<Backend>>>::type;
};

}  // namespace levada::detail
