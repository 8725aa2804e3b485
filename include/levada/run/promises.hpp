// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/promises.hpp: what a deployment promises of its time, checked while it compiles:
//
//   deploy<box, costs<box_costs>, budget<latency<2_ms>, interval<33_ms>, memory<1_MiB>>>(pipeline)
//
// does not compile when the plan is expected to take longer by its costs (plan/detail/expected_time.hpp), which have to
// be measured. Programs that promise nothing do not include it.

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/time_words.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/expected.hpp>

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

// What sentences about time say.
template <fixed_string Bound>
struct promised {};
/// So long, and by what.
template <fixed_string Time, fixed_string... By>
struct plan_takes {};
/// The stage, or the way of what it gives to another device; where; and for how long.
template <fixed_string Stage, fixed_string Device, fixed_string Time>
struct most_time_at {};
/// The machine, the date, and how they are known.
template <fixed_string Machine, fixed_string Date, fixed_string How>
struct costs_from {};
template <fixed_string Stage>
struct not_measured {};

template <fixed_string Rate>
struct behind_rate {};

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

namespace detail {

// ---- bounds ----

struct time_bound {
  bool of_latency = false;
  duration most{};
  quantile at = quantile::median;
};

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
template <class... Bounds>
  requires(bounds_time<Bounds> || ...)
inline constexpr bool is_option<budget<Bounds...>> = true;
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

template <class Text>
constexpr void append_bound(Text& text, const time_bound& bound) {
  text += bound.of_latency ? std::string_view("latency ") : std::string_view("interval ");
  append_time(text, bound.most.seconds());
  if (bound.at == quantile::p95) text += " at p95";
}

/// What sentences say of a bound, and of the plan that it is of.
template <class Timing, time_bound Bound>
struct time_texts {
  static constexpr const pipeline_time& time = Timing::template time<Bound.at>;
  static constexpr const timed_part& worst = Bound.of_latency ? time.longest : time.bottleneck.most;

  using promise = promised<written_fixed_string<[](auto& t) { append_bound(t, Bound); }>()>;
  using from = costs_from<written_fixed_string<[](auto& t) { t += Timing::table.machine; }>(),
                          written_fixed_string<[](auto& t) { t += Timing::table.date; }>(),
                          written_fixed_string<[](auto& t) { append_known(t, time.known); }>()>;
  static consteval auto takes_of() {
    if constexpr (!Bound.of_latency)
      return plan_takes<
          written_fixed_string<[](auto& t) { append_time(t, time.interval()); }>(),
          written_fixed_string<[](auto& t) { append_load(t, time.bottleneck); }>(),
          written_fixed_string<[](auto& t) { append_shared(t, time.bottleneck, time.items_a_result); }>()>{};
    else if constexpr (time.waiting > 0)
      return plan_takes<written_fixed_string<[](auto& t) { append_time(t, time.latency); }>(),
                        written_fixed_string<[](auto& t) { append_waiting(t, time); }>()>{};
    else
      return plan_takes<written_fixed_string<[](auto& t) { append_time(t, time.latency); }>()>{};
  }
  using takes = decltype(takes_of());
  using most = most_time_at<written_fixed_string<[](auto& t) { append_part(t, worst); }>(),
                            written_fixed_string<[](auto& t) { append_device(t, worst.device); }>(),
                            written_fixed_string<[](auto& t) { append_time(t, worst.seconds); }>()>;
  using unmeasured = not_measured<written_fixed_string<[](auto& t) { t += time.known.unmeasured; }>()>;
  using without_p95 = not_measured<written_fixed_string<[](auto& t) { t += time.known.without_p95; }>()>;
  using rate_of_items = behind_rate<written_fixed_string<[](auto& t) { t += time.depends_on_items; }>()>;
  using rate_that_waits = behind_rate<written_fixed_string<[](auto& t) { t += time.waits_without_pace; }>()>;
};

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
  else if constexpr ((bound.of_latency ? time.latency : time.interval()) > bound.most.seconds())
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

template <class Pipeline, class Target, class... Options>
  requires(promises_time<Options> || ...)
struct promise_mistake<Pipeline, Target, Options...>
    : type_tag<decltype(first_time_mistake<timing_of<Pipeline, Target, Options...>,
                                           (std::same_as<Options, estimates_count> || ...)>(
          time_bounds<Options...>{}))> {};

}  // namespace detail
}  // namespace levada
