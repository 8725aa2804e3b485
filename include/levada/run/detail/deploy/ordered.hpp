// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/ordered.hpp: a flattened pipeline whose nodes stand in the order that its backends' regions need
// (plan/detail/apart_regions.hpp). Most backends need none: then it is the pipeline as it was.
//
// A backend that takes regions says where they may be: by its `rules`, which find them anywhere in the graph, or by
// `static constexpr std::size_t longest_region`, the most ops of one that `takes` is asked of wherever they stand. One
// that takes regions of several outputs has `static constexpr std::size_t most_outputs`.

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/nested.hpp>
#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/plan/detail/apart_regions.hpp>
#include <levada/run/detail/deploy/kernel_candidates.hpp>

namespace levada::detail {

template <class Backend>
concept has_rules = requires { Backend::rules; };

/// The backend looks for regions whose nodes do not stand in a row.
template <class Backend>
inline constexpr bool takes_apart = false;
template <takes_regions Backend>
inline constexpr bool takes_apart<Backend> = has_rules<Backend> || requires { Backend::longest_region; };

/// The ops at some places of a pipeline, as a backend sees them.
template <class Flat, class Backend, class Set>
constexpr bool takes_set(const Set& nodes, const Set& exits) {
  std::array<op_info, longest_region> ops;
  run_inputs outputs;
  std::size_t count = 0;
  bool are_ops = nodes.size() <= longest_region;
  if (!are_ops) return false;
  nodes.for_each([&](std::size_t n) {
    if (exits.contains(n)) outputs.try_push_back(static_cast<std::uint16_t>(count));
    ops[count++] = node_infos<Flat>[n];
    are_ops = are_ops && !node_infos<Flat>[n].kind.empty();
  });
  if (outputs.size() == 1) outputs.clear();
  return are_ops && Backend::takes(region_info({ops.data(), count}, {outputs.data(), outputs.size()}));
}

template <class Backend>
consteval std::size_t most_outputs_of() {
  if constexpr (requires { Backend::most_outputs; })
    return Backend::most_outputs;
  else
    return 1;
}
/// A device of the target computes for the backend, and may have nodes of that pin.
template <class Backend, class Devices>
constexpr bool has_device(const Devices& devices, device_id pin) {
  for (const device_info& d : devices)
    if (computes_on({Backend::name, Backend::device}, d.id) && (!pin || admits(pin, d.id))) return true;
  return false;
}

/// Appends the regions apart that a backend takes.
template <class Flat, class Backend, class Order, class Devices, class Found>
constexpr void add_apart([[maybe_unused]] const Order& order, [[maybe_unused]] const Devices& devices,
                         [[maybe_unused]] std::size_t backend, [[maybe_unused]] Found& found) {
  if constexpr (takes_apart<Backend>) {
    const auto add = [&](const auto& nodes) {
      const auto exits = exits_of(order.flow(), nodes);
      if (has_device<Backend>(devices, graph_of<Flat>.nodes[nodes.first()].pin) &&
          takes_set<Flat, Backend>(nodes, exits))
        found.push_back({nodes, backend, exits.size() > 1});
    };
    constexpr std::size_t most_outputs = most_outputs_of<Backend>();
    if constexpr (has_rules<Backend>)
      for_each_found(Backend::rules, graph_of<Flat>, [&](const auto& nodes) {
        if (nodes.size() > 1 && order.is_apart(nodes) && order.is_region(nodes, most_outputs)) add(nodes);
      });
    else
      order.for_each_apart(Backend::longest_region, most_outputs, add);
  }
}

template <class Backends>
inline constexpr bool any_takes_apart = false;
template <class... Backend>
inline constexpr bool any_takes_apart<type_list<Backend...>> = (takes_apart<Backend> || ...);

/// It has no stages that are known by their places alone, and some value is taken twice or an op takes several: else
/// all regions are chains.
template <class Flat>
consteval bool may_be_ordered() {
  if constexpr (Flat::nodes == 0 || has_nesting<Flat>) {
    return false;
  } else {
    if (Flat::has_groups || Flat::has_sides || Flat::gives_regions) return false;
    for (const node_info& node : graph_of<Flat>.nodes)
      if (!node.more.empty()) return true;
    return false;
  }
}

/// All regions apart that backends take of it.
template <class Flat, class... Backend>
constexpr auto apart_regions_of(const auto& devices, type_list<Backend...>) {
  constexpr std::size_t n = std::remove_cvref_t<decltype(graph_of<Flat>.nodes)>::capacity();
  const region_order<n> order(graph_of<Flat>);
  apart_regions<n> found;
  [[maybe_unused]] std::size_t backend = 0;
  if (order.may_move()) (add_apart<Flat, Backend>(order, devices, backend++, found), ...);
  return found;
}

// They are constants of their own, and so are their prices: clang evaluates a million steps for one.
template <class Flat>
inline constexpr std::size_t node_bound = std::remove_cvref_t<decltype(graph_of<Flat>.nodes)>::capacity();
template <class Flat, std::size_t Count>
constexpr auto as_array(const apart_regions<node_bound<Flat>>& regions) {
  std::array<apart_region<node_bound<Flat>>, Count> list{};
  for (std::size_t i = 0; i < Count; ++i) list[i] = regions[i];
  return list;
}
template <class Flat>
constexpr auto as_regions(const auto& list) {
  apart_regions<node_bound<Flat>> regions;
  regions.reserve(list.size());
  for (const auto& region : list) regions.push_back(region);
  return regions;
}
template <class Flat, class Backends, class Target, std::size_t Slots>
inline constexpr std::size_t apart_count =
    apart_regions_of<Flat>(devices_of<Target, Slots>, typename backend_values<Backends>::list{}).size();
template <class Flat, class Backends, class Target, std::size_t Slots>
inline constexpr auto apart_list = as_array<Flat, apart_count<Flat, Backends, Target, Slots>>(
    apart_regions_of<Flat>(devices_of<Target, Slots>, typename backend_values<Backends>::list{}));
template <class Flat, class Backends, class Target, class Chooser, std::size_t Slots>
consteval auto priced_apart() {
  auto regions = as_regions<Flat>(apart_list<Flat, Backends, Target, Slots>);
  if constexpr (requires { Chooser::price(graph_of<Flat>, backend_values<Backends>::values, regions); })
    if (!regions.empty()) Chooser::price(sourced_graph<Flat>, backend_values<Backends>::values, regions);
  bounded<apart_region<node_bound<Flat>>, apart_count<Flat, Backends, Target, Slots>> priced;
  for (const auto& region : regions) priced.push_back(region);
  return priced;
}
template <class Flat, class Backends, class Target, class Chooser, std::size_t Slots>
inline constexpr auto priced_list = priced_apart<Flat, Backends, Target, Chooser, Slots>();

/// The order of its nodes, as `Chooser` finds it or, for `void`, by preference.
template <class Flat, class Backends, class Target, class Chooser, std::size_t Slots>
consteval auto order_of_nodes() {
  using found = enumerated<Flat, Backends>;
  const auto apart = as_regions<Flat>(priced_list<Flat, Backends, Target, Chooser, Slots>);
  const std::span<const candidate> candidates(found::candidates.data(), found::candidates.size());
  if constexpr (requires {
                  Chooser::order_for(graph_of<Flat>, devices_of<Target, Slots>, candidates,
                                     backend_values<Backends>::values, apart);
                }) {
    if (!apart.empty())
      return Chooser::order_for(sourced_graph<Flat>, devices_of<Target, Slots>, candidates,
                                backend_values<Backends>::values, apart);
  }
  return preferred_order(graph_of<Flat>, apart, candidates);
}
template <class Flat, class Backends, class Target, class Chooser, std::size_t Slots>
inline constexpr auto node_order_of = order_of_nodes<Flat, Backends, Target, Chooser, Slots>();

/// A flattened pipeline in that order. `stage_at[i]`: which of the stages, a source left out, node i is.
template <class Flat, class Backends, class Target, class Chooser, std::size_t Slots>
struct ordered_pipeline : Flat {
  static constexpr const auto& order = node_order_of<Flat, Backends, Target, Chooser, Slots>;

  template <std::size_t Node>
  using node_place = typename Flat::template node_place<order.node[Node]>;
  static constexpr auto graph = graph_in_order<order.joined.size()>(graph_of<Flat>, order);
  static consteval const auto& describe() { return graph; }
};

template <class Flat, class Backends, class Target, class Chooser, std::size_t Slots>
consteval auto ordered_type() {
  if constexpr (any_takes_apart<typename backend_values<Backends>::list>) {
    if constexpr (may_be_ordered<Flat>()) {
      if constexpr (!node_order_of<Flat, Backends, Target, Chooser, Slots>.is_as_written())
        return type_tag<ordered_pipeline<Flat, Backends, Target, Chooser, Slots>>{};
      else
        return type_tag<Flat>{};
    } else {
      return type_tag<Flat>{};
    }
  } else {
    return type_tag<Flat>{};
  }
}
/// A flattened pipeline as its backends need it.
template <class Flat, class Backends, class Target, class Chooser = void, std::size_t Slots = 0>
using ordered = typename decltype(ordered_type<Flat, Backends, Target, Chooser, Slots>())::type;

/// It stands in another order than it was written in.
template <class Flat>
inline constexpr bool is_reordered = requires { Flat::order; };

}  // namespace levada::detail
