// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/search_within.hpp: where the plan that a deployment's costs prefer does not keep what is promised,
// others are searched that do (plan/detail/partition_within.hpp). One that keeps it stays as it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/partition_within.hpp>
#include <levada/run/detail/deploy/deployment_mistake.hpp>
#include <levada/run/detail/deploy/expected.hpp>
#include <levada/run/detail/deploy/nested.hpp>
#include <levada/run/detail/deploy/paces.hpp>
#include <levada/run/detail/deploy/promise_mistake.hpp>

namespace levada {

/// Its stages, by device.
template <fixed_string... Segments>
struct nearest_plan {};
/// What the nearest plan takes of each promise that it does not keep.
template <fixed_string... Broken>
struct would_need {};

template <class Nearest, class Needs, class Most, class CostsFrom>
struct no_plan_keeps_what_is_promised : detail::mistake {};

namespace detail {

constexpr std::int64_t nanoseconds_between(const item_arrival& arrival) {
  return static_cast<std::int64_t>(arrival.pace * 1e9 + 0.5);
}

/// What is promised of a plan, as limits of the search. Work that takes all of the time between two items is never done
/// with, so it has to take less; that of all slots is the latency.
template <std::int64_t Pace, std::size_t Slots, class... Bounds>
constexpr plan_limits limits_of(type_list<Bounds...>) {
  plan_limits limits;
  const auto bind = [](double& limit, double seconds) { limit = std::min(limit, seconds); };
  (bind(time_bound_of<Bounds>.of_latency ? limits.latency_at(time_bound_of<Bounds>.at)
                                         : limits.interval_at(time_bound_of<Bounds>.at),
        time_bound_of<Bounds>.most.seconds()),
   ...);
  double& interval = limits.interval_at(quantile::median);
  if (Pace != 0) bind(interval, seconds_of(Pace) - 0.6e-9);
  if (Slots != 0 && interval != plan_limits::any)
    bind(limits.latency_at(quantile::median), interval * static_cast<double>(Slots));
  return limits;
}

/// In place of `Costs`, an option of `deploy`: the best partition within limits.
template <class Costs, objective Goal, std::int64_t Pace, std::size_t Slots, int Threads, bool EstimatesCount,
          class Bounds>
struct costs_within : Costs {
  using preferred = Costs;
  static constexpr objective goal = Goal;

  template <std::size_t N>
  static constexpr auto search(const graph_info<N>& graph, std::span<const device_info> devices,
                               std::span<const candidate> candidates, std::span<const backend_info> backends) {
    return choose_partition_within(graph, devices, candidates, backends, Costs::table, Goal,
                                   limits_of<Pace, Slots>(Bounds{}), {EstimatesCount, Threads});
  }
  template <std::size_t N>
  static constexpr partition<N> partition_for(const graph_info<N>& graph, std::span<const device_info> devices,
                                              std::span<const candidate> candidates,
                                              std::span<const backend_info> backends) {
    const partition_within<N> found = search(graph, devices, candidates, backends);
    return found.parts.empty() ? Costs::partition_for(graph, devices, candidates, backends) : found.parts;
  }
};
/// The same where the rate changes: all regions at once. `Plain` is the timing_of without limits.
template <class Plain, class Costs, objective Goal, std::int64_t Pace, int Threads, bool EstimatesCount, class Bounds>
struct regions_within {
  using plannings = typename Plain::plannings;
  template <std::size_t R>
  using planning = typename plannings::template planning<R>;
  using every_region = std::make_index_sequence<plannings::regions>;
  template <std::size_t N>
  static constexpr std::size_t most_nodes(const graph_info<N>&) {
    return N;
  }
  template <std::size_t... R>
  static constexpr std::size_t nodes_of(std::index_sequence<R...>) {
    return (most_nodes(planning<R>::graph) + ...) + sizeof...(R);
  }

  /// The waits for later items are no plan's to change, and results are as many as the rates say.
  static constexpr plan_limits limits() {
    plan_limits all = limits_of<0, 0>(Bounds{});
    for (const quantile at : {quantile::median, quantile::p95}) {
      const pipeline_time& time =
          at == quantile::p95 ? Plain::template time<quantile::p95> : Plain::template time<quantile::median>;
      all.latency_at(at) = std::max(all.latency_at(at) - time.waiting, 0.0);
      all.interval_at(at) /= time.items_a_result;
    }
    if constexpr (Pace != 0)
      all.interval_at(quantile::median) = std::min(all.interval_at(quantile::median), seconds_of(Pace) - 0.6e-9);
    return all;
  }
  template <std::size_t R>
  static constexpr double runs() {
    if constexpr (R == 0)
      return 1;
    else
      return runs<R - 1>() * static_cast<double>(plannings::template rate<R - 1>.ratio.gives) /
             static_cast<double>(plannings::template rate<R - 1>.ratio.takes);
  }
  template <std::size_t R>
  static constexpr auto problem() {
    return promised_problem(planning<R>::graph, planning<R>::devices, planning<R>::candidates(),
                            planning<R>::backend_infos(), Costs::table, {EstimatesCount, Threads});
  }
  template <std::size_t R>
  using parts_of = partition<most_nodes(planning<R>::graph)>;

  template <std::size_t... R>
  static constexpr auto search(std::index_sequence<R...>) {
    joined_regions<nodes_of(every_region{})> all;
    (all.add(problem<R>(), runs<R>()), ...);
    const bool is_found = all.search(Goal, limits(), beam_of(objective::throughput, all.nodes()));
    std::tuple<bool, bool, parts_of<R>...> answer{is_found, all.has_choice(), parts_of<R>{}...};
    if (is_found)
      ((std::get<R + 2>(answer) =
            partition_of(problem<R>(), all.cover_of(R, problem<R>()), planning<R>::graph, planning<R>::devices)),
       ...);
    return answer;
  }
  static constexpr auto found = search(every_region{});
  static constexpr bool has_choice = std::get<1>(found);

  /// Of the region with that graph; empty where it is none of them.
  template <std::size_t N>
  static constexpr partition<N> parts_for(const graph_info<N>& graph, std::span<const device_info> devices,
                                          std::span<const backend_info> backends) {
    partition<N> parts;
    if (!std::get<0>(found)) return parts;
    const std::uint64_t asked = question_of(graph, devices, backends);
    const auto look = [&]<std::size_t R>() {
      if constexpr (most_nodes(planning<R>::graph) == N)
        if (parts.empty() &&
            question_of(planning<R>::graph, planning<R>::devices, planning<R>::backend_infos()) == asked)
          parts = std::get<R + 2>(found);
    };
    [&]<std::size_t... R>(std::index_sequence<R...>) { (look.template operator()<R>(), ...); }(every_region{});
    return parts;
  }
};
template <class Costs, class Regions, objective Goal>
struct region_costs_within : Costs {
  using preferred = Costs;
  using regions = Regions;
  static constexpr objective goal = Goal;

  template <std::size_t N>
  static constexpr partition<N> partition_for(const graph_info<N>& graph, std::span<const device_info> devices,
                                              std::span<const candidate> candidates,
                                              std::span<const backend_info> backends) {
    const partition<N> found = Regions::parts_for(graph, devices, backends);
    return found.empty() ? Costs::partition_for(graph, devices, candidates, backends) : found;
  }
};
template <class Costs, class Regions, objective Goal>
inline constexpr bool goes_inside<region_costs_within<Costs, Regions, Goal>> = false;

template <class Option>
inline constexpr bool searches_within = false;
template <class Costs, class Regions, objective Goal>
inline constexpr bool searches_within<region_costs_within<Costs, Regions, Goal>> = true;
template <class Costs, objective Goal, std::int64_t Pace, std::size_t Slots, int Threads, bool EstimatesCount,
          class Bounds>
inline constexpr bool searches_within<costs_within<Costs, Goal, Pace, Slots, Threads, EstimatesCount, Bounds>> = true;
template <class Costs, objective Goal, std::int64_t Pace, std::size_t Slots, int Threads, bool EstimatesCount,
          class Bounds>
inline constexpr bool goes_inside<costs_within<Costs, Goal, Pace, Slots, Threads, EstimatesCount, Bounds>> = false;

/// Mistakes that another plan may not have.
template <class Mistake>
inline constexpr bool is_of_the_plan = false;
template <class... Said>
inline constexpr bool is_of_the_plan<plan_needs_more_memory_than_its_budget<Said...>> = true;
template <class... Said>
inline constexpr bool is_of_the_plan<plan_takes_more_time_than_its_budget<Said...>> = true;
template <class... Said>
inline constexpr bool is_of_the_plan<budget_of_time_needs_measured_costs_or_the_option_estimates_count<Said...>> = true;
template <class... Said>
inline constexpr bool is_of_the_plan<items_come_faster_than_the_plan_takes_them_and_no_policy_drops_any<Said...>> =
    true;
template <class... Said>
inline constexpr bool is_of_the_plan<slots_are_too_few_for_the_latency_at_this_pace<Said...>> = true;
template <class... Said>
inline constexpr bool is_of_the_plan<pace_needs_measured_costs_or_the_option_estimates_count<Said...>> = true;
template <class Mistake>
inline constexpr bool is_of_slots = false;
template <class... Said>
inline constexpr bool is_of_slots<slots_are_too_few_for_the_latency_at_this_pace<Said...>> = true;
/// And that a nearest plan has, where none is without.
template <class Mistake>
inline constexpr bool is_of_its_time = false;
template <class... Said>
inline constexpr bool is_of_its_time<plan_takes_more_time_than_its_budget<Said...>> = true;
template <class... Said>
inline constexpr bool is_of_its_time<items_come_faster_than_the_plan_takes_them_and_no_policy_drops_any<Said...>> =
    true;

/// The first mistake of the plan with these options, then of what it promises.
template <class Pipeline, class Target, class... Options>
consteval auto find_planned_mistake(type_list<Options...>) {
  using found = decltype(mistake_of_plans<Pipeline, Target, Options...>());
  if constexpr (found::is_mistake)
    return found{};
  else
    return find_promise_mistake<Pipeline, Target, Options...>();
}
template <class Pipeline, class Target, class Options>
using planned_mistake = decltype(find_planned_mistake<Pipeline, Target>(Options{}));

template <class Pipeline, class Target, class... Options>
struct within_promises {
  using own = type_list<Options...>;
  using chooser = typename partition_option<Options...>::type;

  static consteval bool may_search() {
    if constexpr (!std::is_void_v<typename pinned_option<Options...>::type>)
      return false;
    else
      return requires {
        chooser::goal;
        chooser::table;
      };
  }
  static constexpr std::int64_t pace =
      (drops_by_design<Options> || ...) ? 0 : nanoseconds_between(arrival_of(paces_of<Pipeline>::value));
  template <objective Goal, std::size_t Slots = slot_count_of<Options...>()>
  using within = type_list<costs_within<chooser, Goal, pace, Slots, target_values<Target>::threads().least,
                                        estimates_count_in<Options...>, time_bounds<Options...>>,
                           Options...>;

  template <objective Goal>
  using regions =
      regions_within<timing_of<Pipeline, Target, Options...>, chooser, Goal, pace,
                     target_values<Target>::threads().least, estimates_count_in<Options...>, time_bounds<Options...>>;

  /// Where the best within all limits is no good: one of the least memory, or one that asks for more slots alone.
  static consteval auto choose_within() {
    using best = within<chooser::goal>;
    using found = planned_mistake<Pipeline, Target, best>;
    if constexpr (is_of_the_plan<found> && memory_bound_of<Options...>() != ~std::size_t{0}) {
      using small = planned_mistake<Pipeline, Target, within<objective::memory>>;
      return std::conditional_t<small::is_mistake, best, within<objective::memory>>{};
    } else if constexpr (is_of_the_plan<found> && slot_count_of<Options...>() != 0) {
      using with_more_slots = within<chooser::goal, 0>;
      return std::conditional_t<is_of_slots<planned_mistake<Pipeline, Target, with_more_slots>>, with_more_slots,
                                best>{};
    } else {
      return best{};
    }
  }
  /// The options that the pipeline is planned with.
  static consteval auto choose() {
    using first = planned_mistake<Pipeline, Target, own>;
    if constexpr (!first::is_mistake || !is_of_the_plan<first> || !may_search())
      return own{};
    else if constexpr (changes_rate<flat_parts<Pipeline>>)
      return type_list<region_costs_within<chooser, regions<chooser::goal>, chooser::goal>, Options...>{};
    else
      return choose_within();
  }
  using options = decltype(choose());
};

// ---- where none fits ----

template <class Text, std::size_t N>
constexpr void append_segment(Text& text, const plan_info<N>& plan, const planned_segment& s) {
  append_device(text, s.device);
  for (std::size_t u = s.first; u < s.first + s.count; ++u) {
    text += u == s.first ? ": " : ", ";
    const planned_unit& unit = plan.unit[u];
    for (std::size_t n = unit.first; n < unit.first + unit.count; ++n) {
      if (n != unit.first) text += " + ";
      text += plan.graph.nodes[n].name;
    }
    if (unit.backend == partition_unit::callable) continue;
    text += " by ";
    text += plan.backend[unit.backend].name;
  }
}
template <const auto& Plan, std::size_t... S>
constexpr auto segments_text(std::index_sequence<S...>) {
  return nearest_plan<written_fixed_string<[](auto& t) { append_segment(t, Plan, Plan.segment[S]); }>()...>{};
}

template <class Timing, class Bound>
struct checked_bound {
  static constexpr time_bound bound = time_bound_of<Bound>;
  static constexpr double takes = bound.expected(Timing::template time<bound.at>);
  static constexpr bool is_broken = exceeds(takes, bound.most.seconds());
};
/// "latency 12 ms of 10 ms".
template <class Text>
constexpr void append_broken(Text& text, const time_bound& bound, double takes) {
  text += bound.of_latency ? std::string_view("latency ") : std::string_view("interval ");
  append_time(text, takes);
  text += " of ";
  append_time(text, bound.most.seconds());
  if (bound.at == quantile::p95) text += " at p95";
}
template <class Timing, class Bound>
consteval auto broken_bound() {
  using checked = checked_bound<Timing, Bound>;
  if constexpr (!checked::is_broken)
    return would_need<>{};
  else
    return would_need<written_fixed_string<[](auto& t) { append_broken(t, checked::bound, checked::takes); }>()>{};
}
/// "an item every 12 ms of 10 ms".
template <class Text>
constexpr void append_broken_pace(Text& text, const pipeline_time& time) {
  text += "an item every ";
  append_time(text, time.busiest.seconds());
  text += " of ";
  append_time(text, time.pace);
}
template <class Timing>
inline constexpr bool keeps_pace =
    Timing::template time<quantile::median>.pace == 0 ||
    keeps_up(Timing::template time<quantile::median>.busiest, Timing::template time<quantile::median>.pace);
template <class Timing, bool Drops>
consteval auto broken_pace() {
  if constexpr (Drops || keeps_pace<Timing>)
    return would_need<>{};
  else
    return would_need<
        written_fixed_string<[](auto& t) { append_broken_pace(t, Timing::template time<quantile::median>); }>()>{};
}
template <fixed_string... One, fixed_string... Other>
constexpr nearest_plan<One..., Other...> operator+(nearest_plan<One...>, nearest_plan<Other...>) {
  return {};
}
template <fixed_string... One, fixed_string... Other>
constexpr would_need<One..., Other...> operator+(would_need<One...>, would_need<Other...>) {
  return {};
}
template <class Timing, class... Bounds>
consteval auto broken_bounds(type_list<Bounds...>) {
  return (would_need<>{} + ... + broken_bound<Timing, Bounds>());
}
/// What takes most of the first promise that is not kept.
template <class Timing, bool Drops, class... Bounds>
consteval most_of first_broken(type_list<Bounds...>) {
  if (!Drops && !keeps_pace<Timing>) return most_of::busiest;
  most_of which = most_of::bottleneck;
  bool found = false;
  ((!found && checked_bound<Timing, Bounds>::is_broken
        ? (found = true, which = time_bound_of<Bounds>.of_latency ? most_of::latency : most_of::bottleneck)
        : which),
   ...);
  return which;
}

template <class Within, class Planning>
consteval bool has_choice() {
  if constexpr (requires { Within::regions::has_choice; })
    return Within::regions::has_choice;
  else
    return Within::search(Planning::graph, Planning::devices, Planning::candidates(), Planning::backend_infos())
        .has_choice;
}
template <class Timing, std::size_t... R>
consteval auto nearest_of_regions(std::index_sequence<R...>) {
  return (segments_text<Timing::plannings::template planning<R>::plan>(
              std::make_index_sequence<Timing::plannings::template planning<R>::plan.segments>{}) +
          ...);
}

/// What is wrong where plans were searched: there was a choice, and none of them keeps what is promised.
template <class Pipeline, class Target, class Within, class... Options>
consteval auto nothing_fits(type_list<Within, Options...>) {
  using found = planned_mistake<Pipeline, Target, type_list<Within, Options...>>;
  if constexpr (!is_of_its_time<found> || !searches_within<Within>) {
    return found{};
  } else {
    using timing = timing_of<Pipeline, Target, Within, Options...>;
    using planning = typename timing::plannings::template planning<0>;
    if constexpr (!has_choice<Within, planning>()) {
      return found{};
    } else {
      constexpr bool drops = (drops_by_design<Options> || ...);
      using broken = decltype(broken_pace<timing, drops>() + broken_bounds<timing>(time_bounds<Options...>{}));
      constexpr most_of which = first_broken<timing, drops>(time_bounds<Options...>{});
      return no_plan_keeps_what_is_promised<decltype(nearest_of_regions<timing>(
                                                std::make_index_sequence<timing::plannings::regions>{})),
                                            broken, typename most_text<timing, quantile::median, which>::type,
                                            typename plan_texts<timing, quantile::median>::from>{};
    }
  }
}
template <class Pipeline, class Target>
consteval auto nothing_fits(type_list<>) {
  return planned_mistake<Pipeline, Target, type_list<>>{};
}

}  // namespace detail
}  // namespace levada
