// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/sync.hpp: streams of different clocks joined by capture time, at the head of a pipeline:
//
//   sync_by_time<tolerance<20_ms>, stall<200_ms>>(port<"frame", image>, held(port<"state", state>),
//                                                 interpolated(port<"gyro", sample>, lerp)) | stage<"fuse">(f)
//
// Each item of the first port meets one of every other (as in ROS 2's ApproximateTime), which is known as soon as an
// item that is not older has come there (MediaPipe's timestamp bound). Items without a partner are dropped and counted.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/said_once.hpp>

namespace levada {

/// Partners are at most this far apart.
template <duration Most>
struct tolerance {};

/// From its capture on, an item of the first port waits at most so long for a port that gives nothing, by the session's
/// clock, then takes what is there, or is dropped: as soon as any thread looks, as all do that wait in the session.
/// Without it, it waits.
template <duration Most>
struct stall {};

template <class Given>
struct sync_by_time_takes_a_tolerance_and_a_stall : detail::mistake {};
template <class Option, class Again>
struct sync_by_time_takes_each_option_once : detail::mistake {};

namespace detail {

/// Of the other ports: the nearest in time, the earlier of two.
struct nearest_in_time {};
/// The last one that is not later.
struct held_in_time {};
/// `F` of the one before, the one behind, and where between them: 0 to 1.
template <class F>
struct between_in_time {
  using function = F;
};

struct linear {
  template <class T>
  constexpr T operator()(const T& before, const T& behind, double at) const {
    if constexpr (std::floating_point<T>) {
      return static_cast<T>(before + (behind - before) * static_cast<T>(at));
    } else {
      T result = before;
      for (std::size_t i = 0; i < T::elements; ++i)
        result[i] = before[i] + (behind[i] - before[i]) * static_cast<typename T::value_type>(at);
      return result;
    }
  }
};

template <fixed_string Name, class T, class How, class... Pace>
struct timed_port {};

}  // namespace detail

/// The last item of this port that is not later than that of the first.
template <fixed_string Name, class T>
constexpr detail::timed_port<Name, T, detail::held_in_time> held(port_part<Name, T>) {
  return {};
}
template <fixed_string Name, class T, class Pace>
constexpr detail::timed_port<Name, T, detail::held_in_time, Pace> held(paced_port<Name, T, Pace>) {
  return {};
}
/// The value between its neighbours in time: `f(before, behind, at)`, linear for numbers and tensors of them.
template <fixed_string Name, class T, class F = detail::linear>
  requires(std::is_empty_v<F> && std::is_invocable_r_v<T, const F&, const T&, const T&, double>)
constexpr detail::timed_port<Name, T, detail::between_in_time<F>> interpolated(port_part<Name, T>, F = {}) {
  return {};
}
template <fixed_string Name, class T, class Pace, class F = detail::linear>
  requires(std::is_empty_v<F> && std::is_invocable_r_v<T, const F&, const T&, const T&, double>)
constexpr detail::timed_port<Name, T, detail::between_in_time<F>, Pace> interpolated(paced_port<Name, T, Pace>,
                                                                                     F = {}) {
  return {};
}

namespace detail {

/// How items meet: in time, and each port's way.
template <duration Tolerance, duration Stall, class... How>
struct sync_rule {
  static constexpr std::chrono::nanoseconds tolerance = Tolerance;
  static constexpr std::chrono::nanoseconds stall = Stall;  ///< 0: waits
  using ways = type_list<How...>;
};

}  // namespace detail

/// The items that met.
template <class Rule, class... Named>
struct synced_items : named_items<Named...> {
  using named_items<Named...>::named_items;
  using rule = Rule;
};
template <class Rule, class... Named>
inline constexpr bool is_named_items<synced_items<Rule, Named...>> = true;

namespace detail {

template <class Rule, class... Named>
inline constexpr bool meets_by_time<synced_items<Rule, Named...>> = true;

/// As a stage writes it.
template <class Rule, class... Named, template <class...> class Role>
struct shown<synced_items<Rule, Named...>, Role> : type_tag<Role<named_items<Named...>>> {};

/// What `Option` says, where it is a `Which`.
template <template <duration> class Which, class Option>
inline constexpr duration duration_in{};
template <template <duration> class Which, duration Said>
inline constexpr duration duration_in<Which, Which<Said>> = Said;
template <class Option>
inline constexpr bool is_sync_option = false;
template <duration Most>
inline constexpr bool is_sync_option<levada::tolerance<Most>> = true;
template <duration Most>
inline constexpr bool is_sync_option<levada::stall<Most>> = true;
template <duration One, duration Other>
inline constexpr bool say_the_same<levada::tolerance<One>, levada::tolerance<Other>> = true;
template <duration One, duration Other>
inline constexpr bool say_the_same<levada::stall<One>, levada::stall<Other>> = true;

template <class... Options>
consteval auto sync_mistake() {
  constexpr bool wrong[] = {!is_sync_option<Options>..., true};
  if constexpr (constexpr std::size_t at = first_true(wrong); at < sizeof...(Options))
    return sync_by_time_takes_a_tolerance_and_a_stall<type_at<type_list<Options...>, at>>{};
  else
    return repeated_option(
        []<class First, class Again>() { return sync_by_time_takes_each_option_once<First, Again>{}; },
        type_list<Options...>{});
}

template <class... Options>
constexpr duration the_tolerance = {(std::int64_t{0} + ... + duration_in<levada::tolerance, Options>.nanoseconds)};
template <class... Options>
constexpr duration the_stall = {(std::int64_t{0} + ... + duration_in<levada::stall, Options>.nanoseconds)};

template <class Port>
struct timed_item;
template <fixed_string Name, class T>
struct timed_item<port_part<Name, T>> : type_tag<named_item<Name, T>> {
  using way = nearest_in_time;
  using pace = void;
};
template <fixed_string Name, class T, class Pace>
struct timed_item<paced_port<Name, T, Pace>> : timed_item<port_part<Name, T>> {
  using pace = Pace;
};
template <fixed_string Name, class T, class How>
struct timed_item<timed_port<Name, T, How>> : type_tag<named_item<Name, T>> {
  using way = How;
  using pace = void;
};
template <fixed_string Name, class T, class How, class Pace>
struct timed_item<timed_port<Name, T, How, Pace>> : timed_item<timed_port<Name, T, How>> {
  using pace = Pace;
};
template <class T>
concept is_timed = requires { typename timed_item<T>::way; };

/// When the items of each port come; `void`: nobody said.
template <class... Pace>
struct port_paces {};
template <class... Pace>
inline constexpr bool is_pace<port_paces<Pace...>> = true;

}  // namespace detail

/// The head of a pipeline of several ports whose items meet by their capture times. Sessions are pushed to by port,
/// each port in the order of its times.
template <class... Options, class First, class... Ports>
  requires(sizeof...(Ports) > 0 && detail::is_port<First> && (detail::is_timed<Ports> && ...) &&
           correct<decltype(detail::sync_mistake<Options...>())>)
constexpr auto sync_by_time(First, Ports...) {
  using rule = detail::sync_rule<detail::the_tolerance<Options...>, detail::the_stall<Options...>,
                                 typename detail::timed_item<First>::way, typename detail::timed_item<Ports>::way...>;
  using items =
      synced_items<rule, typename detail::timed_item<First>::type, typename detail::timed_item<Ports>::type...>;
  if constexpr (std::is_void_v<typename detail::timed_item<First>::pace> &&
                (std::is_void_v<typename detail::timed_item<Ports>::pace> && ...))
    return input<items>;
  else
    return input<items, detail::port_paces<typename detail::timed_item<First>::pace,
                                           typename detail::timed_item<Ports>::pace...>>;
}
/// Deduced and never defined: the use is the one error.
template <class... Options, class First, class... Ports, class Mistake = decltype(detail::sync_mistake<Options...>())>
  requires(detail::is_port<First> && Mistake::is_mistake)
auto sync_by_time(First, Ports...);

}  // namespace levada
