// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_handle.hpp: the calls that every kind of session has, for functions that take any of them.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/session/push_result.hpp>

namespace levada {

/// A running instance of a pipeline: session, any_session, and the three that hand out the results of a session
/// (callback_session, event_session, async_session). docs/sessions.md says what each call does in each of them.
template <class S>
concept session_handle = std::move_constructible<S> && requires(S& s, const S& observed, std::size_t events) {
  typename S::item;
  typename S::output;
  requires std::same_as<typename S::time_point, std::chrono::steady_clock::time_point>;
  { observed.credits() } -> std::same_as<std::size_t>;
  s.close();
  s.cancel();
  s.drain();
  s.reset();
  s.on_error([](std::uint64_t, const std::exception_ptr&) noexcept {});
  { observed.is_over() } -> std::same_as<bool>;
  { observed.now() } -> std::same_as<typename S::time_point>;
  { observed.due() } -> std::same_as<std::optional<typename S::time_point>>;
  { observed.counts() } -> std::same_as<item_counts>;
  s.measure(true);
  { observed.statistics() } -> std::same_as<session_statistics>;
  s.trace(events);
  requires std::same_as<decltype(observed.traced()), session_trace>;
};

/// Takes items from one thread at a time, or, as multi_producer, from any number: no async_session, each of whose items
/// is started by itself.
template <class S>
concept item_consumer = requires(S& s, typename S::item&& given, typename S::time_point captured) {
  { s.push(std::move(given), captured) } -> std::same_as<push_result>;
  { s.try_push(std::move(given), captured) } -> std::same_as<push_result>;
};

/// Its results are popped without waiting.
template <class S>
concept polled_session = session_handle<S> && requires(S& s, item_envelope& envelope) {
  { s.try_pop() } -> std::same_as<std::optional<popped_result<typename S::output>>>;
  { s.try_pop(envelope) } -> std::same_as<std::optional<popped_result<typename S::output>>>;
};

/// Its results are popped, and a pop waits for the next one.
template <class S>
concept popped_session = polled_session<S> && requires(S& s, item_envelope& envelope) {
  { s.pop() } -> std::same_as<std::optional<popped_result<typename S::output>>>;
  { s.pop(envelope) } -> std::same_as<std::optional<popped_result<typename S::output>>>;
};

}  // namespace levada
