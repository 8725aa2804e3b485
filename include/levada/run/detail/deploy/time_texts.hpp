// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/time_texts.hpp: what the sentences of run/promises.hpp say: what was promised, what the plan takes,
// where most of it goes, and by which costs. `Timing` is a timing_of (run/detail/deploy/expected.hpp).

#include <cstddef>
#include <cstdint>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/plan/detail/pipeline_time.hpp>
#include <levada/plan/detail/promised_times.hpp>
#include <levada/plan/detail/time_words.hpp>

namespace levada {

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
/// What is busy longer than it may, in each time between two items, and the part of it that takes most.
template <fixed_string Load, fixed_string InEach, fixed_string... Most>
struct plan_needs {};
template <fixed_string Stages, fixed_string Time, std::size_t Slots>
struct items_stay_in_slots {};
template <std::size_t Slots>
struct slots_needed_are {};
template <fixed_string Age>
struct deadline_is {};

namespace detail {

/// What takes most: of the latency, of what bounds the results, of what bounds the items.
enum class most_of : std::uint8_t { latency, bottleneck, busiest };
template <class Timing, quantile At, most_of Which>
struct most_text {
  static constexpr const pipeline_time& time = Timing::template time<At>;
  static constexpr timed_part part = Which == most_of::latency      ? time.longest
                                     : Which == most_of::bottleneck ? time.bottleneck.most
                                                                    : time.busiest.most;
  using type = most_time_at<written_fixed_string<[](auto& t) { append_part(t, part); }>(),
                            written_fixed_string<[](auto& t) { append_device(t, part.device); }>(),
                            written_fixed_string<[](auto& t) { append_time(t, part.seconds); }>()>;
};

/// "cpu needs 82 ms of 2 workers", "in each 33 ms", "detect 70 ms of it".
template <class Timing>
struct needs_text {
  static constexpr const pipeline_time& time = Timing::template time<quantile::median>;
  static consteval auto written() {
    constexpr auto needs = written_fixed_string<[](auto& t) { append_needs(t, time.busiest); }>();
    constexpr auto in_each = written_fixed_string<[](auto& t) { append_in_each(t, time.pace); }>();
    if constexpr (time.busiest.of != expected_load::device || time.busiest.most.seconds >= time.busiest.work)
      return plan_needs<needs, in_each>{};
    else
      return plan_needs<needs, in_each, written_fixed_string<[](auto& t) { append_most(t, time.busiest.most); }>()>{};
  }
  using type = decltype(written());
};

/// What sentences say of the times of a plan.
template <class Timing, quantile At>
struct plan_texts {
  static constexpr const pipeline_time& time = Timing::template time<At>;

  using from = costs_from<written_fixed_string<[](auto& t) { t += Timing::table.machine; }>(),
                          written_fixed_string<[](auto& t) { t += Timing::table.date; }>(),
                          written_fixed_string<[](auto& t) { append_known(t, time.known); }>()>;
  static consteval auto latency_of() {
    if constexpr (time.waiting > 0)
      return plan_takes<written_fixed_string<[](auto& t) { append_time(t, time.latency); }>(),
                        written_fixed_string<[](auto& t) { append_waiting(t, time); }>()>{};
    else
      return plan_takes<written_fixed_string<[](auto& t) { append_time(t, time.latency); }>()>{};
  }
  using latency = decltype(latency_of());
  using unmeasured = not_measured<written_fixed_string<[](auto& t) { t += time.known.unmeasured; }>()>;
  using without_p95 = not_measured<written_fixed_string<[](auto& t) { t += time.known.without_p95; }>()>;
  using rate_of_items = behind_rate<written_fixed_string<[](auto& t) { t += time.depends_on_items; }>()>;
  using rate_that_waits = behind_rate<written_fixed_string<[](auto& t) { t += time.waits_without_pace; }>()>;
};

/// And of a bound.
template <class Timing, time_bound Bound>
struct time_texts : plan_texts<Timing, Bound.at> {
  using base = plan_texts<Timing, Bound.at>;
  using base::time;
  using promise = promised<written_fixed_string<[](auto& t) { append_bound(t, Bound); }>()>;
  static consteval auto takes_of() {
    if constexpr (!Bound.of_latency && time.pace > time.bottleneck.seconds())
      return plan_takes<written_fixed_string<[](auto& t) { append_time(t, time.interval()); }>(),
                        "pace of its items">{};
    else if constexpr (!Bound.of_latency)
      return plan_takes<
          written_fixed_string<[](auto& t) { append_time(t, time.interval()); }>(),
          written_fixed_string<[](auto& t) { append_load(t, time.bottleneck); }>(),
          written_fixed_string<[](auto& t) { append_shared(t, time.bottleneck, time.items_a_result); }>()>{};
    else
      return typename base::latency{};
  }
  using takes = decltype(takes_of());
  using most = typename most_text<Timing, Bound.at, Bound.of_latency ? most_of::latency : most_of::bottleneck>::type;
};

}  // namespace detail
}  // namespace levada
