// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/promise_mistake.hpp: what a deployment promises of its time (run/promises.hpp), and what its plan
// does not keep of it.

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/promised_times.hpp>
#include <levada/plan/detail/time_words.hpp>
#include <levada/run/detail/deploy/call_mistake.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/deploy/expected.hpp>
#include <levada/run/detail/deploy/paces.hpp>
#include <levada/run/detail/deploy/time_texts.hpp>
#include <levada/run/detail/program/session_options.hpp>

namespace levada {

/// For `budget`: a lone item takes no longer from push to result; by the median of each kernel, or
/// `latency<2_ms, quantile::p95>`.
template <duration Most, quantile At = quantile::median>
struct latency {};
/// For `budget`: results come no further apart, where items follow each other without a gap.
template <duration Most, quantile At = quantile::median>
struct interval {};

template <duration Most, quantile At>
struct budget<latency<Most, At>> {};
template <duration Most, quantile At>
struct budget<interval<Most, At>> {};

/// An option of `deploy`: promises of time may go by costs that nobody measured. What is estimated counts as such; a
/// callable that nobody measured as nothing.
struct estimates_count {};

template <class Promised, class Takes, class Most, class CostsFrom>
struct plan_takes_more_time_than_its_budget : detail::mistake {};
template <class Promised, class Stage, class CostsFrom>
struct budget_of_time_needs_measured_costs_or_the_option_estimates_count : detail::mistake {};
template <class Promised, class Stage, class CostsFrom>
struct costs_have_no_such_quantile_measure_them_again : detail::mistake {};
template <class Promised, class Rate>
struct budget_of_time_cannot_be_checked_behind_a_rate_that_depends_on_its_items : detail::mistake {};
template <class Promised, class Rate>
struct budget_of_latency_needs_a_pace_or_a_timeout_where_items_wait_for_later_ones : detail::mistake {};

template <class Paced, class Needs, class Most, class CostsFrom>
struct items_come_faster_than_the_plan_takes_them_and_no_policy_drops_any : detail::mistake {};
template <class Paced, class Has, class Needs, class CostsFrom>
struct slots_are_too_few_for_the_latency_at_this_pace : detail::mistake {};
template <class Paced, class Stage, class CostsFrom>
struct pace_needs_measured_costs_or_the_option_estimates_count : detail::mistake {};
template <class Paced, class Rate>
struct pace_cannot_be_checked_behind_a_rate_that_depends_on_its_items : detail::mistake {};

namespace detail {

template <class Pipeline>
  requires(paces_of<Pipeline>::value.are_said() || !std::is_void_v<typename paced_behind_head<Pipeline>::type>)
inline constexpr bool is_paced<Pipeline> = true;

// ---- sessions that drop by design ----

/// Given to `deploy`, its sessions are opened with it: what finds no room is dropped.
template <class Option>
inline constexpr bool drops_by_design = std::same_as<Option, latest_only>;
template <overflow_policy Policy>
inline constexpr bool drops_by_design<overflow<Policy>> = drops(Policy);
template <class Option>
  requires drops_by_design<Option>
inline constexpr bool is_option<Option> = true;
template <class Option>
  requires drops_by_design<Option>
inline constexpr bool promises_time<Option> = true;
template <class One, class Other>
  requires(drops_by_design<One> && drops_by_design<Other>)
inline constexpr bool say_the_same<One, Other> = true;

// ---- bounds ----

template <class Bound>
inline constexpr bool bounds_time = false;
template <duration Most, quantile At>
inline constexpr bool bounds_time<latency<Most, At>> = true;
template <duration Most, quantile At>
inline constexpr bool bounds_time<interval<Most, At>> = true;

template <class Bound>
inline constexpr time_bound time_bound_of{};
template <duration Most, quantile At>
inline constexpr time_bound time_bound_of<latency<Most, At>>{true, Most, At};
template <duration Most, quantile At>
inline constexpr time_bound time_bound_of<interval<Most, At>>{false, Most, At};

template <class... Bounds>
  requires(bounds_time<Bounds> || ...)
inline constexpr bool promises_time<budget<Bounds...>> = true;
template <class Bound>
  requires bounds_time<Bound>
inline constexpr bool is_bound<Bound> = true;
template <>
inline constexpr bool is_option<estimates_count> = true;

/// Those of an option, as a list.
template <class Option>
struct time_bounds_in : type_tag<type_list<>> {};
template <class... Bounds>
struct time_bounds_in<budget<Bounds...>>
    : type_tag<decltype((type_list<>{} + ... +
                         std::conditional_t<bounds_time<Bounds>, type_list<Bounds>, type_list<>>{}))> {};
template <class... Options>
using time_bounds = decltype((type_list<>{} + ... + typename time_bounds_in<Options>::type{}));

// ---- mistakes ----

/// The mistake of a bound. `Timing` has `table` and `time<quantile>`.
template <class Timing, class Bound, bool EstimatesCount>
consteval auto time_bound_mistake() {
  constexpr time_bound bound = time_bound_of<Bound>;
  constexpr const pipeline_time& time = Timing::template time<bound.at>;
  using says = time_texts<Timing, bound>;
  if constexpr (!EstimatesCount && time.known.measured != time.known.all)
    return budget_of_time_needs_measured_costs_or_the_option_estimates_count<
        typename says::promise, typename says::unmeasured, typename says::from>{};
  else if constexpr (bound.at == quantile::p95 && !time.known.without_p95.empty())
    return costs_have_no_such_quantile_measure_them_again<typename says::promise, typename says::without_p95,
                                                          typename says::from>{};
  else if constexpr (!time.depends_on_items.empty())
    return budget_of_time_cannot_be_checked_behind_a_rate_that_depends_on_its_items<typename says::promise,
                                                                                    typename says::rate_of_items>{};
  else if constexpr (bound.of_latency && !time.waits_without_pace.empty())
    return budget_of_latency_needs_a_pace_or_a_timeout_where_items_wait_for_later_ones<
        typename says::promise, typename says::rate_that_waits>{};
  else if constexpr (exceeds(bound.expected(time), bound.most.seconds()))
    return plan_takes_more_time_than_its_budget<typename says::promise, typename says::takes, typename says::most,
                                                typename says::from>{};
  else
    return no_mistake{};
}

template <class Timing, bool EstimatesCount, class... Bounds>
consteval auto first_time_mistake(type_list<Bounds...>) {
  constexpr bool wrong[] = {decltype(time_bound_mistake<Timing, Bounds, EstimatesCount>())::is_mistake..., true};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Bounds))
    return time_bound_mistake<Timing, type_at<type_list<Bounds...>, at>, EstimatesCount>();
  else
    return no_mistake{};
}

/// The mistake of the pace of a pipeline's items.
template <class Timing, bool EstimatesCount, bool Drops>
consteval auto pace_mistake_of_plan() {
  constexpr const pipeline_time& time = Timing::template time<quantile::median>;
  using says = plan_texts<Timing, quantile::median>;
  using pace = paced<written_fixed_string<[](auto& t) { append_time(t, time.pace); }>()>;
  if constexpr (time.pace == 0 || Drops)
    return no_mistake{};
  else if constexpr (!EstimatesCount && time.known.measured != time.known.all)
    return pace_needs_measured_costs_or_the_option_estimates_count<pace, typename says::unmeasured,
                                                                   typename says::from>{};
  else if constexpr (!time.depends_on_items.empty())
    return pace_cannot_be_checked_behind_a_rate_that_depends_on_its_items<pace, typename says::rate_of_items>{};
  else if constexpr (!keeps_up(time.busiest, time.pace))
    return items_come_faster_than_the_plan_takes_them_and_no_policy_drops_any<
        pace, typename needs_text<Timing>::type, typename most_text<Timing, quantile::median, most_of::busiest>::type,
        typename says::from>{};
  else if constexpr (!keeps_up(time.fullest, time.pace))
    return slots_are_too_few_for_the_latency_at_this_pace<
        pace,
        items_stay_in_slots<written_fixed_string<[](auto& t) { t += time.fullest.most.stage; }>(),
                            written_fixed_string<[](auto& t) { append_time(t, time.fullest.work); }>(),
                            time.fullest.workers>,
        slots_needed_are<slots_needed(time.fullest, time.pace)>, typename says::from>{};
  else
    return no_mistake{};
}

template <class... Options>
inline constexpr bool estimates_count_in = (std::same_as<Options, estimates_count> || ...);

/// The first mistake of all: of the paces, then of the budgets.
template <class Pipeline, class Target, class... Options>
consteval auto find_promise_mistake() {
  using timing = timing_of<Pipeline, Target, Options...>;
  constexpr bool estimates = estimates_count_in<Options...>;
  using behind = decltype(mistake_of_pace_behind_head<typename paced_behind_head<Pipeline>::type>());
  using of_paces = decltype(mistake_of_paces<timing::paces>());
  if constexpr (behind::is_mistake) {
    return behind{};
  } else if constexpr (of_paces::is_mistake) {
    return of_paces{};
  } else {
    using of_pace = decltype(pace_mistake_of_plan<timing, estimates, (drops_by_design<Options> || ...)>());
    if constexpr (of_pace::is_mistake)
      return of_pace{};
    else
      return first_time_mistake<timing, estimates>(time_bounds<Options...>{});
  }
}

}  // namespace detail
}  // namespace levada
