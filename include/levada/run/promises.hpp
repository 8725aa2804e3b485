// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/promises.hpp: what a deployment promises of its time, checked while it compiles:
//
//   deploy<box, costs<box_costs>, budget<latency<2_ms>, interval<33_ms>, memory<1_MiB>>>(
//       input<frame, every<33_ms>> | ...)
//
// does not compile when the plan is expected to take longer by its costs (plan/detail/expected_time.hpp), or cannot
// keep up with its items. The costs have to be measured. Programs that promise nothing do not include it.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/plan/detail/options.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/promised_times.hpp>
#include <levada/plan/detail/time_words.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/expected.hpp>
#include <levada/run/detail/deploy/promise_mistake.hpp>
#include <levada/run/detail/deploy/search_within.hpp>
#include <levada/run/detail/deploy/time_texts.hpp>
#include <levada/run/detail/deploy/verify.hpp>
#include <levada/run/detail/deploy/watched_stream.hpp>
#include <levada/run/detail/measure/late_watch.hpp>
#include <levada/run/detail/program/session_options.hpp>

namespace levada {

/// An option of the sessions of an app with a budget of latency: `F(late_item)` for each item that took longer, on the
/// thread that pops it. Without it they are counted only, and not where items may come every 20 us or faster:
/// `statistics()`, `prometheus_text`.
template <auto F>
struct on_late {};

template <class Given>
struct on_late_takes_a_late_item_and_does_not_throw : detail::mistake {};
template <class Deadline, class Takes, class Most, class CostsFrom>
struct deadline_is_below_the_latency_that_the_plan_expects : detail::mistake {};

namespace detail {

template <class Pipeline, class Target, class... Options>
  requires(promises_time<Options> || ... || is_paced<Pipeline>)
struct promise_mistake<Pipeline, Target, Options...>
    : type_tag<decltype(nothing_fits<Pipeline, Target>(
          typename within_promises<Pipeline, Target, Options...>::options{}))> {};
template <class Pipeline, class Target, class... Options>
  requires(promises_time<Options> || ... || is_paced<Pipeline>)
struct options_to_plan<Pipeline, Target, Options...>
    : type_tag<typename within_promises<Pipeline, Target, Options...>::options> {};

// ---- of what was deployed ----

template <class Option>
inline constexpr bool is_on_late = false;
template <auto F>
inline constexpr bool is_on_late<on_late<F>> = true;
template <class Option>
struct called_when_late {
  static constexpr void (*call)(const late_item&) = nullptr;
  using mistake = no_mistake;
};
template <auto F>
struct called_when_late<on_late<F>> {
  static constexpr bool fits = std::is_nothrow_invocable_v<decltype(F), const late_item&>;
  static constexpr void (*call)(const late_item&) = [](const late_item& item) {
    if constexpr (fits) F(item);
  };
  using mistake = std::conditional_t<fits, no_mistake, on_late_takes_a_late_item_and_does_not_throw<decltype(F)>>;
};
/// What a session with these options watches.
template <duration Most, class... Own>
inline constexpr watched_latency watched_with{Most,
                                              [] {
                                                void (*call)(const late_item&) = nullptr;
                                                ((call = is_on_late<Own> ? called_when_late<Own>::call : call), ...);
                                                return call;
                                              }(),
                                              &late_watch::make};

template <auto F>
inline constexpr bool is_late_option<on_late<F>> = true;
template <auto F>
inline constexpr bool hears_late<on_late<F>> = called_when_late<on_late<F>>::fits;
/// Of a session whose app is known by its item types alone: who is told. How much is promised says the app.
template <auto F>
constexpr void set(session_settings& s, on_late<F>) {
  s.watched = &watched_with<duration{}, on_late<F>>;
}

/// What an app promises, and what that means to its sessions.
template <class Pipeline, class Target, class... Options>
struct promises_of {
  using timing = timing_of<Pipeline, Target, Options...>;

  /// The largest of the budgets of latency; 0: there is none.
  static constexpr duration latency_promised = []<class... Bounds>(type_list<Bounds...>) {
    duration most{};
    ((most = time_bound_of<Bounds>.of_latency ? std::max(most, time_bound_of<Bounds>.most) : most), ...);
    return most;
  }(time_bounds<Options...>{});

  /// Watching takes some 60 ns an item, or 100 where items come one by one, and their stages are timed in up to a
  /// two-hundredth of their time: where items may follow each other faster than this, more than a hundredth in all, and
  /// a session has to ask for it.
  static constexpr double least_watched = 20e-6;
  template <class... Own>
  static constexpr bool watches =
      latency_promised != duration{} &&
      ((is_on_late<Own> || ...) || std::max(timing::template time<quantile::median>.bottleneck.seconds(),
                                            timing::template time<quantile::median>.pace) >= least_watched);

  /// The options of a session: those that the deployment was made with first. `on_late` is none of the others.
  template <class... Own>
  using with_own =
      decltype((type_list<>{} + ... + std::conditional_t<drops_by_design<Options>, type_list<Options>, type_list<>>{}) +
               (type_list<>{} + ... +
                std::conditional_t<is_on_late<Own> && latency_promised != duration{}, type_list<>, type_list<Own>>{}));

  template <class Item, class... Own>
  static constexpr session_settings settings() {
    session_settings s = []<class... All>(type_list<All...>) {
      return settings_for<Item, All...>();
    }(with_own<Own...>{});
    if constexpr (watches<Own...>) s.watched = &watched_with<latency_promised, Own...>;
    return s;
  }
  /// Of its streams.
  template <class... Own>
  static watched_stream stream_settings() {
    return watched_stream(&watched_with<latency_promised, Own...>);
  }
  template <class Result, class In, class App>
  static auto erased(std::shared_ptr<typename App::deployment> app) {
    return std::make_shared<watched_pipeline<Result, In, App>>(std::move(app), watched_with<latency_promised>,
                                                               watches<>);
  }

  template <class In, class Out, bool ChangesRate, class... Own>
  static consteval auto session_mistake() {
    using found = decltype([]<class... All>(type_list<All...>) {
      return app_session_mistake<In, Out, ChangesRate, All...>();
    }(with_own<Own...>{}));
    constexpr std::int64_t deadline = deadline_of(with_own<Own...>{});
    if constexpr (found::is_mistake)
      return found{};
    else if constexpr ((called_when_late<Own>::mistake::is_mistake || ...))
      return first_mistake(typename called_when_late<Own>::mistake{}...);
    else if constexpr (deadline != 0)
      return deadline_mistake<deadline>();
    else
      return found{};
  }

 private:
  template <class... All>
  static consteval std::int64_t deadline_of(type_list<All...>) {
    return settings_of<All...>().deadline.count();
  }
  template <std::int64_t Age>
  static consteval auto deadline_mistake() {
    constexpr const pipeline_time& time = timing::template time<quantile::median>;
    using says = plan_texts<timing, quantile::median>;
    if constexpr (time.latency > seconds_of(Age))
      return deadline_is_below_the_latency_that_the_plan_expects<
          deadline_is<written_fixed_string<[](auto& t) { append_nanoseconds(t, Age); }>()>, typename says::latency,
          typename most_text<timing, quantile::median, most_of::latency>::type, typename says::from>{};
    else
      return no_mistake{};
  }
  template <class... Bounds>
  struct bounds_of {
    static constexpr std::array<time_bound, sizeof...(Bounds)> list{time_bound_of<Bounds>...};
    static constexpr std::array<double, sizeof...(Bounds)> expected{
        time_bound_of<Bounds>.expected(timing::template time<time_bound_of<Bounds>.at>)...};
  };
  template <class... Bounds>
  static bounds_of<Bounds...> as_bounds(type_list<Bounds...>);
  using bounds = decltype(as_bounds(time_bounds<Options...>{}));

 public:
  static constexpr promised_times values{timing::template time<quantile::median>,
                                         timing::loads,
                                         bounds::list,
                                         bounds::expected,
                                         timing::table.machine,
                                         timing::table.date,
                                         (drops_by_design<Options> || ...)};

  template <class App, class Sample>
  static verification verify(const App& app, const Sample& sample, std::size_t items) {
    return verify_app<timing>(app, sample, items, values);
  }
};

template <class Types, class Promises>
struct promising_types : Types {
  using promises = Promises;
};
template <class Types, class Pipeline, class Target, class... Options>
  requires(promises_time<Options> || ... || is_paced<Pipeline>)
struct with_promises<Types, Pipeline, Target, Options...> {
  template <class... All>
  static consteval auto types(type_list<All...>) {
    using promises = promises_of<Pipeline, Target, All...>;
    if constexpr (std::same_as<type_list<All...>, type_list<Options...>>)
      return type_tag<promising_types<Types, promises>>{};
    else if constexpr (changes_rate<flat_parts<Pipeline>>)
      return type_tag<promising_types<deployment_types_of_regions<flat_parts<Pipeline>, Target, All...>, promises>>{};
    else
      return type_tag<promising_types<deployment_types<flat<Pipeline>, Target, All...>, promises>>{};
  }
  using type = typename decltype(types(typename options_to_plan<Pipeline, Target, Options...>::type{}))::type;
};

}  // namespace detail
}  // namespace levada
