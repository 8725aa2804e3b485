// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/by_cost.hpp: which part of a line goes to another machine where nobody has pinned one: the cheapest by
// the driver's costs, its ways there and back among them, and by those of the node:
//
//   deploy<box, version<"1">, costs<box_costs>, node_costs<"edge", edge_costs>>(pipeline, endpoints<"edge">{...})
//
// Beside one processor and one such device each part that may go is looked at (remote/detail/ranges_there.hpp). Where
// more devices compute, the parts are offers of the search of plan/detail/partition_by_cost.hpp, of which it takes one
// at most for each device. Where the driver's table leaves a kernel's cost unknown, nothing is known of a saving, and
// nothing goes. Both ends ask the same question, and have the same answer.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/region.hpp>
#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/mistakes.hpp>
#include <levada/remote/detail/ranges_there.hpp>
#include <levada/remote/detail/traffic.hpp>
#include <levada/run/detail/deploy/call_mistake.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/kernel_candidates.hpp>
#include <levada/run/detail/deploy/planned.hpp>

namespace levada {

/// What stages take on the nodes of a remote device, as `profile` has measured it there. With `costs<...>` a part of
/// the line may be placed there without a pin, and a node is planned by this table.
template <fixed_string Device, const cost_table& Table>
struct node_costs {};

namespace detail {

template <fixed_string Device, const cost_table& Table>
inline constexpr bool is_remote_option<node_costs<Device, Table>> = true;

/// Of a device of a target; null: the option says nothing of it.
template <class Device, class Option>
inline constexpr const cost_table* node_table_in = nullptr;
template <fixed_string Name, class... Devices, const cost_table& Table>
inline constexpr const cost_table* node_table_in<remote<Name, Devices...>, node_costs<Name, Table>> = &Table;
template <class Device, class... Options>
consteval const cost_table* node_table() {
  const cost_table* found = nullptr;
  ((found = node_table_in<Device, Options> != nullptr ? node_table_in<Device, Options> : found), ...);
  return found;
}

/// The options of a node's plan: its costs are its own.
template <fixed_string Name, class Option, class... All>
struct option_of_node : type_tag<Option> {};
template <fixed_string Name, const cost_table& Table, objective Goal, const cost_table& Own, class... Rest>
struct option_of_node<Name, costs<Table, Goal>, node_costs<Name, Own>, Rest...> : type_tag<costs<Own, Goal>> {};
template <fixed_string Name, const cost_table& Table, objective Goal, class Other, class... Rest>
struct option_of_node<Name, costs<Table, Goal>, Other, Rest...> : option_of_node<Name, costs<Table, Goal>, Rest...> {};
template <fixed_string Name, class... All, class... Kept>
auto with_own_costs(type_list<Kept...>) -> type_list<typename option_of_node<Name, Kept, All...>::type...>;
template <fixed_string Name, class... Options>
using options_of_node = decltype(with_own_costs<Name, Options...>(options_there<Options...>{}));

template <class... Devices>
consteval std::optional<device_info> processor_among(type_list<Devices...>) {
  for (const device_info& d : target_values<target<Devices...>>::list)
    if (d.id.kind == device_kind::cpu) return d;
  return {};
}
template <class Device>
inline constexpr std::optional<device_info> processor_there;
template <fixed_string Name, class First, class... Rest>
inline constexpr std::optional<device_info> processor_there<remote<Name, First, Rest...>> =
    processor_among(type_list<First, Rest...>{});

/// Whose parts the search may place elsewhere: time is what counts, and nothing of it is promised.
template <class Option>
inline constexpr bool places_by_time = false;
template <const cost_table& Table, objective Goal>
inline constexpr bool places_by_time<costs<Table, Goal>> = Goal == objective::latency || Goal == objective::throughput;

/// The search for the part of a line that goes to each device of a target.
template <class Pipeline, class Target, class... Options>
struct part_by_cost {
  static constexpr std::size_t devices = std::size(target_values<Target>::list);
  using answer = std::array<range_of_parts, devices>;

  using chooser = typename partition_option<Options...>::type;
  using line = typename parts_of_line<Pipeline>::type;
  using flat_parts = typename flatten<Pipeline, void>::type;

  /// The ways there and back were measured, and what stages take there.
  template <class Device>
  static consteval bool is_known() {
    constexpr device_id here{device_kind::cpu};
    return node_table<Device, Options...>() != nullptr && processor_there<Device>.has_value() &&
           find_transfer(chooser::transfers, here, Device::id) && find_transfer(chooser::transfers, Device::id, here);
  }
  static constexpr bool is_elsewhere(std::size_t device) {
    return is_elsewhere_kind(target_values<Target>::list[device].id.kind);
  }
  /// One device may take a part, and the processor has all else.
  template <class... Devices>
  static consteval bool is_processor_and_node() {
    return (0 + ... + (is_known<Devices>() ? 1 : 0)) == 1 &&
           (0 + ... + (is_elsewhere_kind(Devices::id.kind) ? 0 : 1)) == 1;
  }
  template <class... Element>
  static consteval bool has_split_after(stage_list<Element...>) {
    return (is_split_after<Element> || ...);
  }

  template <class... Devices>
  static consteval answer find(type_tag<target<Devices...>>) {
    if constexpr (!(places_by_time<Options> || ...) || (promises_time<Options> || ...) || is_paced<Pipeline> ||
                  (pins_plan<Options> || ...))
      return {};
    else if constexpr (!processor_among(type_list<Devices...>{}) || !(is_known<Devices>() || ...) ||
                       has_split_after(line{}))
      return {};
    else
      return search(type_tag<target<Devices...>>{});
  }
  template <class... Devices>
  static consteval answer search(type_tag<target<Devices...>>) {
    using flat = flat<Pipeline>;
    using found = enumerated<
        flat, typename with_nested<typename backends_of<Target, Options...>::type, flat, Target, Options...>::type>;
    constexpr const auto& graph = sourced_graph<flat>;
    constexpr std::size_t most_nodes = std::remove_cvref_t<decltype(graph.nodes)>::capacity();
    const std::span<const candidate> candidates(found::candidates.data(), found::candidates.size());
    const std::span<const backend_info> backends = found::values::values;
    for (const node_info& n : graph.nodes)
      if (is_elsewhere_kind(n.pin.kind)) return {};

    constexpr auto parts = line_values<flat, flat_parts, line>::find(std::make_index_sequence<flat_parts::size>());
    const range_rules rules{(std::same_as<Options, state_restarts> || ...),
                            std::min({any_traffic, traffic_allowed_by<Options>...})};
    placement_problem<most_nodes> problem = deployment_problem(graph, devices_of<Target, slot_count_of<Options...>()>,
                                                               candidates, backends, chooser::table);
    for (const offer<most_nodes>& o : problem.offers)
      if (o.price.origin == cost_origin::unknown) return {};
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      if (graph.nodes[n].how != form::sink) problem.bytes[n] = graph.values[graph.nodes[n].out].wire_bytes;
    problem.input_bytes = graph.values[0].wire_bytes;
    // What goes between a node and another device comes by the processor.
    const std::size_t host = problem.host;
    for (std::size_t from = 0; from < devices; ++from)
      for (std::size_t to = 0; to < devices; ++to) {
        if (from == host || to == host || !(is_elsewhere(from) || is_elsewhere(to)) || from == to) continue;
        const crossing in = problem.crossings[from][host], out = problem.crossings[host][to];
        problem.crossings[from][to] = {in.seconds + out.seconds, in.seconds_per_byte + out.seconds_per_byte};
      }

    answer all{};
    std::size_t d = 0;
    (
        [&] {
          if constexpr (is_known<Devices>()) {
            const device_info& processor = *processor_there<Devices>;
            const auto there = prices_there(graph, processor, candidates, backends, *node_table<Devices, Options...>());
            if constexpr (is_processor_and_node<Devices...>()) {
              const two_ends ends{problem.devices[host].workers, processor.max_threads, problem.crossings[host][d],
                                  problem.crossings[d][host], chooser::goal};
              all[d] = cheapest_range<most_nodes>(graph, parts, {problem, host}, there, ends, rules);
            } else {
              add_ranges<most_nodes>(problem, graph, d, processor.max_threads, parts, there, backends.size() + 1,
                                     rules);
            }
          }
          ++d;
        }(),
        ...);
    if constexpr (is_processor_and_node<Devices...>())
      return all;
    else
      return ranges_found(problem, parts);
  }
  template <std::size_t N>
  static consteval answer ranges_found(const placement_problem<N>& problem, std::span<const part_of_line> parts) {
    const cover<N> best = best_cover(problem, chooser::goal, beam_of(chooser::goal, problem.flow.nodes));
    answer all{};
    if (!best.complete) return all;
    for (const std::size_t o : best.chosen) {
      const offer<N>& taken = problem.offers[o];
      if (taken.candidate != part_elsewhere_offer) continue;
      range_of_parts& range = all[taken.place];
      const std::size_t first = taken.nodes.first(), behind = first + taken.nodes.size();
      for (std::size_t e = 0; e < parts.size(); ++e) {
        if (parts[e].first == first && parts[e].count != 0) range.first = e;
        if (parts[e].behind() == behind && parts[e].count != 0) range.behind = e + 1;
      }
    }
    return all;
  }

  static consteval answer make() {
    if constexpr (!pipeline_part<Pipeline>)
      return {};
    else if constexpr (pipeline_mistake<Pipeline>::is_mistake ||
                       decltype(target_mistake(type_tag<Target>{}))::is_mistake)
      return {};
    else if constexpr (changes_rate<flat_parts>)
      return {};
    else
      return find(type_tag<Target>{});
  }
};

/// The line with the parts of that range pinned.
template <class Pin, std::size_t First, std::size_t Behind, class Line>
constexpr auto pin_range(Line line) {
  if constexpr (First == Behind) {
    return line;
  } else if constexpr (is_pipeline<Line>) {
    return pin_range<Pin, First, Behind>(std::move(line.parts()));
  } else if constexpr (is_link<Line>) {
    constexpr std::size_t last = part_count<typename parts_of_line<Line>::type> - 1;
    if constexpr (last < First)
      return line;
    else if constexpr (last < Behind)
      return pin_range<Pin, First, Behind>(std::move(line.left)) | on<Pin>(std::move(line.right));
    else
      return pin_range<Pin, First, Behind>(std::move(line.left)) | std::move(line.right);
  } else {
    return line;
  }
}

template <const auto& Ranges, std::size_t D, class Line>
constexpr auto pin_ranges(Line line, type_tag<target<>>) {
  return line;
}
template <const auto& Ranges, std::size_t D, class Line, class First, class... Rest>
constexpr auto pin_ranges(Line line, type_tag<target<First, Rest...>>) {
  constexpr range_of_parts here = Ranges[D];
  if constexpr (here.first == here.behind)
    return pin_ranges<Ranges, D + 1>(std::move(line), type_tag<target<Rest...>>{});
  else
    return pin_ranges<Ranges, D + 1>(
        pin_range<typename elsewhere<First>::device, here.first, here.behind>(std::move(line)),
        type_tag<target<Rest...>>{});
}

template <class Pipeline, class Target, class... Options>
inline constexpr auto ranges_by_cost = part_by_cost<Pipeline, Target, Options...>::make();

template <class Option>
inline constexpr bool is_node_costs = false;
template <fixed_string Device, const cost_table& Table>
inline constexpr bool is_node_costs<node_costs<Device, Table>> = true;

/// The pipeline with pins on what the search places elsewhere, if anything.
template <class Target, class... Options, class Pipeline>
constexpr auto place_by_cost(Pipeline pipeline) {
  if constexpr ((is_node_costs<Options> || ...))
    return pin_ranges<ranges_by_cost<Pipeline, Target, Options...>, 0>(std::move(pipeline), type_tag<Target>{});
  else
    return pipeline;
}
template <class Pipeline, class Target, class... Options>
using placed_by_cost = decltype(place_by_cost<Target, Options...>(std::declval<Pipeline>()));

}  // namespace detail
}  // namespace levada
