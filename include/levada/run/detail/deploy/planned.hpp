// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/planned.hpp: the plan of a flattened pipeline for a target, and what can be asked of it.

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/describe.hpp>
#include <levada/graph/detail/sourced_graph.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/plan/detail/unit_prices.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/kernel_candidates.hpp>
#include <levada/run/detail/deploy/ordered.hpp>

namespace levada::detail {

/// The backends that plan a pipeline: one more where stages hold pipelines themselves (run/detail/deploy/nested.hpp).
template <class Backends, class Flat, class Target, class... Options>
struct with_nested : type_tag<Backends> {};
/// Plans what a rate holds: run/detail/deploy/rated_fork.hpp.
template <class Target, class... Options>
struct planner_of_rates;

/// Its items are run by the one thread that asks for them.
struct without_workers {};

/// How many items of a flattened pipeline are in flight, for make_plan.
template <class Flat, class... Options>
inline constexpr std::size_t slots_wanted = suitable_slots;
template <class Parts, std::size_t... I, class... Options>
inline constexpr std::size_t slots_wanted<flat_pipeline<Parts, std::index_sequence<I...>>, Options...> = [] {
  constexpr bool hold_nothing = std::is_trivially_destructible_v<typename place<Parts, 0>::out> &&
                                std::is_trivially_destructible_v<item_behind<Parts>>;
  constexpr std::size_t said = slot_count_of<Options...>();
  return said != 0 ? said : hold_nothing ? suitable_slots : slots_for_owners;
}();

/// Of a flattened pipeline of one rate.
template <class Flat, class Target, class... Options>
struct planned {
  using backend_list =
      typename with_nested<typename backends_of<Target, Options...>::type, Flat, Target, Options...>::type;
  using chooser = typename partition_option<Options...>::type;
  /// In the order that its plan needs.
  using flat = ordered<Flat, backend_list, Target, chooser, slot_count_of<Options...>()>;
  using found = enumerated<flat, backend_list>;
  using target = target_values<Target>;
  using target_type = Target;
  static constexpr std::size_t nodes = flat::nodes;
  using backend_types = typename backend_values<backend_list>::list;

  static consteval std::span<const candidate> candidates() {
    return {found::candidates.data(), found::candidates.size()};
  }
  static consteval std::span<const backend_info> backend_infos() { return backend_values<backend_list>::values; }

  static consteval const auto& graph_to_plan() {
    if constexpr (std::is_void_v<chooser>)
      return found::graph;
    else
      return sourced_graph<flat>;
  }
  static constexpr const auto& graph = graph_to_plan();
  static constexpr const auto& devices = devices_of<Target, slot_count_of<Options...>()>;
  using pin = typename pinned_option<Options...>::type;

  /// What follows from pins and preferences, or from costs; a plan that was saved may have another.
  static consteval auto prefer() {
    if constexpr (is_reordered<flat>)
      if (const auto made_for = partition_of_order(flat::order, graph, candidates()); !made_for.empty())
        return made_for;
    if constexpr (std::is_void_v<chooser>)
      return choose_partition(graph, devices, candidates(), backend_infos());
    else
      return chooser::partition_for(graph, devices, candidates(), backend_infos());
  }
  static constexpr auto preferred = prefer();

  /// The first node that no device of the target can take: the partition stops short of it.
  static consteval std::size_t first_uncovered_node() { return covered_nodes(preferred); }

  /// A device of the target that the plan uses and nobody has brought a driver for.
  template <class... Devices>
  static consteval auto driver_mistake(type_tag<levada::target<Devices...>>) {
    constexpr bool missing[] = {(Devices::id.kind != device_kind::cpu && !has_driver<Devices> && uses(Devices::id))...};
    constexpr std::size_t first = [] {
      for (std::size_t i = 0; i < sizeof...(Devices); ++i)
        if (missing[i]) return i;
      return sizeof...(Devices);
    }();
    if constexpr (first < sizeof...(Devices))
      return device_needs_the_header_that_brings_its_driver<type_at<type_list<Devices...>, first>>{};
    else
      return no_mistake{};
  }
  static consteval bool uses(device_id id) {
    for (const planned_segment& s : plan.segment)
      if (s.device == id) return true;
    return false;
  }

  static consteval auto pin_mistake() {
    if constexpr (std::is_void_v<pin>)
      return no_mistake{};
    else
      return pinned_mistake<pinned_line<pin>::line, found::graph, target::list, found::candidates,
                            backend_values<backend_list>::values>{};
  }

  static consteval std::span<const transfer_cost> transfer_costs() {
    if constexpr (requires { chooser::transfers; })
      return chooser::transfers;
    else
      return {};
  }

  /// The partition, and how many slots are wanted: what was saved, or what follows from pins, preferences and costs.
  static consteval const auto& partition_to_plan() {
    if constexpr (std::is_void_v<pin>)
      return preferred;
    else
      return pinned_partition<pinned_line<pin>::line, found::graph, target::list, found::candidates,
                              backend_values<backend_list>::values>.parts;
  }
  static consteval std::size_t slots_to_plan() {
    if constexpr (std::is_void_v<pin>)
      return slots_wanted<Flat, Options...>;
    else
      return pinned_partition<pinned_line<pin>::line, found::graph, target::list, found::candidates,
                              backend_values<backend_list>::values>.slots;
  }
  static constexpr const auto& parts = partition_to_plan();
  static constexpr std::size_t asked_slots = slots_to_plan();

  static consteval auto prices_of_units() {
    if constexpr (requires { chooser::prices_for(graph, parts, backend_infos()); })
      return chooser::prices_for(graph, parts, backend_infos());
    else
      return unit_prices(graph, parts, backend_infos());
  }
  static constexpr auto prices = prices_of_units();
  static constexpr bool has_workers = !(std::same_as<Options, without_workers> || ...);

  /// A plan of so many slots, as `plan_with_slots` makes it, each step a constant of its own.
  template <std::size_t Slots>
  struct with_slots {
    static constexpr auto begun =
        plan_without_places(graph, parts, {Slots, {prices.data(), prices.size()}, has_workers, transfer_costs()}, Slots,
                            devices, candidates(), backend_infos());
    template <bool Join>
    static constexpr auto placed = with_places(begun, Join, devices);
    static consteval const auto& smaller() {
      if constexpr (!joins_values(begun))
        return placed<false>;
      else if constexpr (placed<true>.bytes_total <= placed<false>.bytes_total)
        return placed<true>;
      else
        return placed<false>;
    }
    static constexpr const auto& plan = smaller();
  };

  /// As `make_plan`.
  template <std::size_t Slots, std::size_t BytesBefore>
  static consteval auto settle() {
    constexpr const auto& made = with_slots<Slots>::plan;
    constexpr std::size_t fewer = fewer_slots(made);
    if constexpr (fewer != 0)
      return settle<fewer, bytes_with_a_slot(made)>();
    else
      return with_suitable_slots(made, BytesBefore, asked_slots, devices);
  }
  static consteval auto make() {
    if constexpr (asked_slots != suitable_slots && asked_slots != slots_for_owners)
      return with_slots<asked_slots>::plan;
    else
      return settle<usual_slots, 0>();
  }
  static constexpr auto plan = make();
};

}  // namespace levada::detail
