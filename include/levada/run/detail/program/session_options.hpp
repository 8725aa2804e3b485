// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/session_options.hpp: the options of `app.open<Options...>()`.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/detail/said_once.hpp>
#include <levada/run/detail/program/virtual_clock.hpp>

namespace levada {

/// The outcome of a push into a full pipeline.
enum class overflow_policy : std::uint8_t {
  block,        ///< push waits, and works; the default
  reject,       ///< push says false and leaves the item with the caller, who may skip or try again
  drop_oldest,  ///< the oldest item that no stage has begun gives way, counted; the new one where all have begun
  drop_newest   ///< the new item is dropped and counted
};
using enum overflow_policy;

/// With names it is that of these ports of a session that is pushed to by port; the others have the session's. A port
/// is full where its items wait for partners, or for room behind them. Ports that meet by number may only block or
/// reject: what is dropped from one would shift its partners.
template <overflow_policy Policy, fixed_string... Ports>
struct overflow {};

/// At most one item waits for its first stage: a newer one takes its place, and it is counted as dropped. push never
/// waits; the newer one is dropped where every slot has an item that was begun.
struct latest_only {};

/// Where items are looked at that may be past their deadline.
enum class deadline_scope : std::uint8_t {
  before_stages,  ///< the default: what was begun in time may come out as late as its last stage makes it
  at_output       ///< and once more as a result, before it is handed out
};
using enum deadline_scope;

/// An item older than this, counted from its capture time, or from its push where none was given, is dropped before its
/// next stage and counted. That bounds no age at the output: a stage that has begun an item goes through with it, and a
/// result may wait.
///
/// With `at_output` a value is dropped, too, that is older when it would be popped or handed to a callback, future or
/// coroutine; failures are handed out however old. Such a session is not popped by outputs.
template <duration Age, deadline_scope Scope = before_stages>
struct deadline {};

/// Stages stay off the calling threads: the session has a worker of its own.
struct dedicated {};

/// Like `dedicated`, and its worker polls: try_push and try_pop make no system call, take no lock and allocate nothing.
struct realtime {};

/// Results are written where the pusher says: `push(item, into)`, and `pop` gives a reference to it. For results that
/// need no destruction. What a failed item left there is not specified; memory of an item that was not popped is free
/// once the session is gone.
struct external_results {};

/// push runs its item on the calling thread where nothing else is in flight: a single item is finished when push
/// returns, and no thread is woken for it.
struct inline_when_idle {};

/// Results leave as they complete, and not in the order of items: none waits behind a longer one. Each comes once, with
/// its number in its envelope. It is for pipelines that give one result for each item, popped whole, handed to a
/// callback, awaited or a future.
/// - A serial stage sees the items in their order all the same.
/// - The session is `dedicated`, with as many workers as the target has threads: no long item holds up a caller.
/// - Slots are free in the order of items: one item may be `slots<N>` behind the others.
/// - Segments before the last, as before a device or `split_here`, pass items on in their order.
struct unordered {};

template <class Given>
struct session_has_no_such_option : detail::mistake {};
struct deadline_of_no_time_would_drop_every_item : detail::mistake {};
struct late_item;  ///< defined in run/detail/measure/late_watch.hpp
struct session_has_two_deadlines : detail::mistake {};
template <class Option>
struct session_takes_each_option_once : detail::mistake {};
struct deadline_at_the_output_needs_a_pipeline_that_gives_results : detail::mistake {};
struct session_is_told_twice_what_it_does_when_full : detail::mistake {};
template <class Item>
struct session_that_drops_older_items_needs_items_that_move_without_throwing : detail::mistake {};
template <class Item, class Result>
struct session_with_external_results_takes_an_item_and_where_its_result_goes : detail::mistake {};
struct session_of_any_pipeline_gives_its_results_by_value : detail::mistake {};
template <class Result>
struct session_writes_only_results_that_need_no_destruction_into_memory_of_the_caller : detail::mistake {};
struct session_that_drops_older_items_cannot_write_results_into_memory_of_the_caller : detail::mistake {};
struct session_whose_stages_stay_off_the_calling_threads_cannot_run_an_item_inline : detail::mistake {};
template <fixed_string Port>
struct session_is_told_twice_what_this_port_does_when_full : detail::mistake {};
template <class Option>
struct ports_that_meet_by_number_block_or_reject_for_what_is_dropped_would_shift_partners : detail::mistake {};
struct session_of_the_latest_item_only_is_pushed_whole_items_not_ports : detail::mistake {};
struct session_of_any_pipeline_is_pushed_whole_items_not_ports : detail::mistake {};
struct session_with_external_results_is_pushed_whole_items_not_ports : detail::mistake {};
struct session_with_external_results_is_popped_whole_results_not_outputs : detail::mistake {};
struct unordered_session_needs_a_pipeline_that_gives_results : detail::mistake {};
struct pipeline_that_changes_its_rate_gives_its_results_in_order : detail::mistake {};
struct pipeline_that_changes_its_rate_has_no_result_for_each_item_to_write_into_memory_of_the_caller : detail::mistake {
};

namespace detail {

class item_watcher;
template <class>
class basic_meter;
using meter = basic_meter<void>;
struct program;

/// Which items are late, and who hears of it: run/detail/measure/late_watch.hpp.
struct watched_latency {
  std::chrono::nanoseconds most{0};
  void (*on_late)(const late_item&) = nullptr;
  item_watcher* (*make)(const watched_latency&, const program&, meter&) = nullptr;
};

constexpr bool drops(overflow_policy policy) {
  return policy == overflow_policy::drop_oldest || policy == overflow_policy::drop_newest;
}

/// The options of a session as values.
struct session_settings {
  overflow_policy overflow = overflow_policy::block;
  bool latest_only = false;
  bool dedicated = false;
  bool polls = false;
  bool inline_when_idle = false;
  bool external_results = false;
  bool unordered = false;
  bool deadline_at_output = false;
  bool divides = true;                       ///< units of lone items, where the plan does
  bool is_one_item = false;                  ///< a call of the app
  std::chrono::nanoseconds deadline{0};      ///< 0: none
  const virtual_clock* clock = nullptr;      ///< null: the machine's
  const overflow_policy* ports = nullptr;    ///< what each does; null: as the session
  const watched_latency* watched = nullptr;  ///< which items are late; null: none

  std::chrono::steady_clock::time_point now() const {
    return clock != nullptr ? clock->now() : std::chrono::steady_clock::now();
  }
  /// A clock may stand anywhere, before its epoch too: the last nanosecond is when nothing happens.
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  /// Something was due at that nanosecond.
  bool has_come(std::int64_t due) const {
    return due != never && now().time_since_epoch() >= std::chrono::nanoseconds(due);
  }
  /// So long behind a nanosecond.
  static constexpr std::int64_t due_after(std::int64_t at, std::int64_t wait) {
    return at < never - wait ? at + wait : never;
  }
  /// What was captured before is past its deadline.
  std::chrono::steady_clock::time_point oldest_in_time() const {
    constexpr auto first = std::chrono::steady_clock::time_point::min();
    const auto at = now();
    return at > first + deadline ? at - deadline : first;
  }
  /// Of regions whose results go to another.
  session_settings inside() const {
    session_settings s = *this;
    s.deadline_at_output = false;
    return s;
  }
  constexpr overflow_policy overflow_of(std::size_t port) const { return ports != nullptr ? ports[port] : overflow; }
  /// Items come in as none of them says otherwise.
  constexpr bool is_usual() const {
    return waits_when_full() && !inline_when_idle && deadline.count() == 0 && clock == nullptr && watched == nullptr;
  }
  /// push may drop an item that was pushed before.
  constexpr bool drops_older() const { return latest_only || overflow == overflow_policy::drop_oldest; }
  constexpr bool waits_when_full() const { return !latest_only && overflow == overflow_policy::block; }
  /// push may end an item, that one or an older one.
  constexpr bool drops() const { return drops_older() || overflow == overflow_policy::drop_newest; }
};

template <class Option>
inline constexpr bool is_session_option = false;
template <overflow_policy Policy, fixed_string... Ports>
inline constexpr bool is_session_option<levada::overflow<Policy, Ports...>> = true;
template <>
inline constexpr bool is_session_option<levada::latest_only> = true;
template <duration Age, deadline_scope Scope>
inline constexpr bool is_session_option<levada::deadline<Age, Scope>> = true;
template <>
inline constexpr bool is_session_option<levada::dedicated> = true;
template <>
inline constexpr bool is_session_option<levada::realtime> = true;
template <>
inline constexpr bool is_session_option<levada::external_results> = true;
template <>
inline constexpr bool is_session_option<levada::inline_when_idle> = true;
template <>
inline constexpr bool is_session_option<levada::unordered> = true;

/// Of measurements: what a unit takes is what one thread takes for it.
struct undivided {};
template <>
inline constexpr bool is_session_option<undivided> = true;
constexpr void set(session_settings& s, undivided) { s.divides = false; }

template <overflow_policy Policy, fixed_string... Ports>
constexpr void set([[maybe_unused]] session_settings& s, levada::overflow<Policy, Ports...>) {
  if constexpr (sizeof...(Ports) == 0) s.overflow = Policy;
}
constexpr void set(session_settings& s, levada::latest_only) { s.latest_only = true; }
template <duration Age, deadline_scope Scope>
constexpr void set(session_settings& s, levada::deadline<Age, Scope>) {
  s.deadline = Age;
  s.deadline_at_output = Scope == at_output;
}
constexpr void set(session_settings& s, levada::inline_when_idle) { s.inline_when_idle = true; }
constexpr void set(session_settings& s, levada::external_results) { s.external_results = true; }
constexpr void set(session_settings& s, levada::unordered) { s.dedicated = s.unordered = true; }
constexpr void set(session_settings& s, levada::dedicated) { s.dedicated = true; }
constexpr void set(session_settings& s, levada::realtime) { s.dedicated = s.polls = true; }

template <class... Options>
constexpr session_settings settings_of() {
  session_settings s;
  (set(s, Options{}), ...);
  return s;
}

template <class Option>
inline constexpr bool leaves_no_time = false;
template <duration Age, deadline_scope Scope>
inline constexpr bool leaves_no_time<levada::deadline<Age, Scope>> = (Age <= duration{});

template <class Option>
inline constexpr bool is_deadline = false;
template <duration Age, deadline_scope Scope>
inline constexpr bool is_deadline<levada::deadline<Age, Scope>> = true;

/// It says what the whole session does when it is full.
template <class Option>
inline constexpr bool says_when_full = std::is_same_v<Option, levada::latest_only>;
template <overflow_policy Policy>
inline constexpr bool says_when_full<levada::overflow<Policy>> = true;

/// The ports that an option names.
template <class Option>
inline constexpr std::array<std::string_view, 0> ports_in{};
template <overflow_policy Policy, fixed_string... Ports>
inline constexpr std::array<std::string_view, sizeof...(Ports)> ports_in<levada::overflow<Policy, Ports...>>{
    Ports.view()...};
template <class... Options>
inline constexpr bool name_ports = (!ports_in<Options>.empty() || ...);

template <class Item>
constexpr void set_ports(auto&, auto) {}
template <class Item, overflow_policy Policy, fixed_string... Ports>
constexpr void set_ports([[maybe_unused]] auto& policies, levada::overflow<Policy, Ports...>) {
  ((policies[port_of<Item, Ports>] = Policy), ...);
}
/// The policy of each port.
template <class Item, class... Options>
inline constexpr auto port_policies = [] {
  std::array<overflow_policy, Item::size> policies{};
  policies.fill(settings_of<Options...>().overflow);
  (set_ports<Item>(policies, Options{}), ...);
  return policies;
}();

/// The options of a session of `Item`s, which have the ports that are named.
template <class Item, class... Options>
constexpr session_settings settings_for() {
  session_settings s = settings_of<Options...>();
  if constexpr (name_ports<Options...>) s.ports = port_policies<Item, Options...>.data();
  return s;
}

template <class First, class... Others>
consteval auto first_mistake(First, Others... others) {
  if constexpr (First::is_mistake || sizeof...(Others) == 0)
    return First{};
  else
    return first_mistake(others...);
}

template <class Item, fixed_string Port, class... Options>
consteval auto named_port_mistake() {
  constexpr std::size_t times = [] {
    std::size_t n = 0;
    (([&](const auto& ports) {
       for (const std::string_view port : ports) n += port == Port.view() ? 1 : 0;
     }(ports_in<Options>)),
     ...);
    return n;
  }();
  if constexpr (!has_port<Item, Port>())
    return session_has_no_port_of_that_name<Port, wants_item<Item>>{};
  else if constexpr (times > 1)
    return session_is_told_twice_what_this_port_does_when_full<Port>{};
  else
    return no_mistake{};
}

/// The first mistake in the options of a session that is pushed to by port, if any.
template <class Item, class Option, class... Options>
struct port_option_mistake : type_tag<no_mistake> {};
template <class Item, class... Options>
struct port_option_mistake<Item, levada::latest_only, Options...>
    : type_tag<session_of_the_latest_item_only_is_pushed_whole_items_not_ports> {};
template <class Item, overflow_policy Policy, fixed_string... Ports, class... Options>
struct port_option_mistake<Item, levada::overflow<Policy, Ports...>, Options...> {
  using dropping = ports_that_meet_by_number_block_or_reject_for_what_is_dropped_would_shift_partners<
      levada::overflow<Policy, Ports...>>;
  using type =
      decltype(first_mistake(named_port_mistake<Item, Ports, Options...>()...,
                             std::conditional_t<drops(Policy) && !meets_by_time<Item>, dropping, no_mistake>{}));
};

/// The first of the options that is none.
template <class First, class... Rest>
consteval auto unknown_option() {
  if constexpr (!is_session_option<First>)
    return session_has_no_such_option<First>{};
  else
    return unknown_option<Rest...>();
}

/// The first mistake in a session of `Item`s and `Result`s opened with these options, if any.
template <class Item, class Result, class... Options>
consteval auto session_mistake() {
  if constexpr (!(is_session_option<Options> && ...))
    return unknown_option<Options...>();
  else if constexpr ((leaves_no_time<Options> || ...))
    return deadline_of_no_time_would_drop_every_item{};
  else if constexpr ((std::size_t{is_deadline<Options>} + ... + 0) > 1)
    return session_has_two_deadlines{};
  else if constexpr (std::is_void_v<Result> && settings_of<Options...>().deadline_at_output)
    return deadline_at_the_output_needs_a_pipeline_that_gives_results{};
  else if constexpr (std::is_void_v<Result> && settings_of<Options...>().unordered)
    return unordered_session_needs_a_pipeline_that_gives_results{};
  else if constexpr ((std::size_t{says_when_full<Options>} + ... + 0) > 1)
    return session_is_told_twice_what_it_does_when_full{};
  else if constexpr (settings_of<Options...>().drops_older() && !std::is_nothrow_move_constructible_v<Item>)
    return session_that_drops_older_items_needs_items_that_move_without_throwing<Item>{};
  else if constexpr (settings_of<Options...>().dedicated && settings_of<Options...>().inline_when_idle)
    return session_whose_stages_stay_off_the_calling_threads_cannot_run_an_item_inline{};
  else if constexpr (settings_of<Options...>().external_results &&
                     (std::is_void_v<Result> || !std::is_trivially_destructible_v<Result>))
    return session_writes_only_results_that_need_no_destruction_into_memory_of_the_caller<Result>{};
  else if constexpr (settings_of<Options...>().external_results && settings_of<Options...>().drops_older())
    return session_that_drops_older_items_cannot_write_results_into_memory_of_the_caller{};
  else if constexpr (name_ports<Options...>)
    return first_mistake(typename port_option_mistake<Item, Options, Options...>::type{}...);
  else
    return repeated_option([]<class Option, class>() { return session_takes_each_option_once<Option>{}; },
                           type_list<Options...>{});
}

/// The same of an app.
template <class Item, class Result, bool ChangesRate, class... Options>
consteval auto app_session_mistake() {
  using found = decltype(session_mistake<Item, Result, Options...>());
  if constexpr (found::is_mistake || !ChangesRate)
    return found{};
  else if constexpr (settings_of<Options...>().external_results)
    return pipeline_that_changes_its_rate_has_no_result_for_each_item_to_write_into_memory_of_the_caller{};
  else if constexpr (settings_of<Options...>().unordered)
    return pipeline_that_changes_its_rate_gives_its_results_in_order{};
  else
    return found{};
}

/// An option that sessions know whose deployment promises a latency: run/promises.hpp.
template <class Option>
inline constexpr bool hears_late = false;
/// It is this option, right or wrong.
template <class Option>
inline constexpr bool is_late_option = false;

template <class Item, class Result, class... Options>
consteval auto session_mistake_of(type_list<Options...>) {
  return session_mistake<Item, Result, Options...>();
}
/// And of a pipeline that is known by its item types alone.
template <class Item, class Result, class... Options>
consteval auto erased_session_mistake() {
  using found = decltype(session_mistake_of<Item, Result>(
      (type_list<>{} + ... + std::conditional_t<hears_late<Options>, type_list<>, type_list<Options>>{})));
  if constexpr (!found::is_mistake && settings_of<Options...>().external_results)
    return session_of_any_pipeline_gives_its_results_by_value{};
  else if constexpr (!found::is_mistake && name_ports<Options...>)
    return session_of_any_pipeline_is_pushed_whole_items_not_ports{};
  else
    return found{};
}

}  // namespace detail

}  // namespace levada
