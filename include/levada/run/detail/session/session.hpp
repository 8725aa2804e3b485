// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session.hpp: push and pop with the item types of a pipeline.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/result.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/deployment.hpp>
#include <levada/run/detail/session/failure_calls.hpp>
#include <levada/run/detail/session/port_feed.hpp>
#include <levada/run/detail/session/port_results.hpp>
#include <levada/run/detail/session/push_calls.hpp>
#include <levada/run/detail/session/push_result.hpp>
#include <levada/run/detail/session/session_entry.hpp>
#include <levada/run/detail/session/session_exit.hpp>

namespace levada {
namespace detail {

template <class Session>
class result_dispatcher;

}  // namespace detail

/// One running instance of an app: its own stage state and slots, the app's weights and plan. One thread pushes and one
/// pops at a time; they may be the same. Movable; its end cancels what is in flight. `Out` is void behind a sink: then
/// only failed items are popped. It is a reference in a session with `external_results`.
template <class In, class Out, class Executor>
class session : public detail::failure_calls<session<In, Out, Executor>> {
 public:
  using item = In;
  using output = Out;
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr bool writes_outside = std::is_reference_v<Out>;

  session(std::shared_ptr<detail::deployment<Executor>> of, std::stop_token stop,
          const detail::session_settings& settings = {})
      : core_(new core_state(std::move(of), std::move(stop), settings)) {}

  /// Gives an item to the pipeline, captured at a time that travels with it, and says whether the pipeline has it: else
  /// the item is as it was, and is the caller's or was dropped.
  ///
  /// While it is full it waits, and works, or does what the session's `overflow` says. Throws levada::error when the
  /// session is closed or cancelled, or when it is full of results and no other thread has come to pop any for some
  /// seconds.
  push_result push(In&& value, time_point captured = {})
    requires(!writes_outside)
  {
    return emplace(detail::forwarded_item<In>{std::move(value)}, captured);
  }
  push_result push(const In& value, time_point captured = {})
    requires(std::copy_constructible<In> && !writes_outside)
  {
    return emplace(detail::forwarded_item<const In&>{value}, captured);
  }

  /// The same with `external_results`: the result is constructed at `into`, which is the session's until the item is
  /// popped.
  template <class Result>
    requires(std::same_as<Result&, Out>)
  push_result push(In&& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<In> make{std::move(value)};
    return core_->emplace_for(nullptr, make, captured, std::addressof(into));
  }
  template <class Result>
    requires(std::same_as<Result&, Out> && std::copy_constructible<In>)
  push_result push(const In& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<const In&> make{value};
    return core_->emplace_for(nullptr, make, captured, std::addressof(into));
  }

  template <detail::no_item_of<In> Given>
  mistake_found<pipeline_takes_another_item<detail::wants_item<In>, gives<Given>>> push(const Given& value);
  template <class Given>
    requires(writes_outside && !detail::no_item_of<Given, In>)
  mistake_found<session_with_external_results_takes_an_item_and_where_its_result_goes<In, std::remove_reference_t<Out>>>
  push(const Given& value);
  mistake_found<item_cannot_be_copied_move_it_in<In>> push(const In& value)
    requires(!std::copy_constructible<In>);
  template <class Given, detail::no_item_of<time_point> When>
    requires(!writes_outside)
  mistake_found<item_is_captured_at_a_time_point_of_the_steady_clock<When>> push(const Given& value,
                                                                                 const When& captured);

  /// Pushes the result of `make()`, constructed in its slot.
  template <class Make>
    requires(std::constructible_from<In, std::invoke_result_t<Make&>> && !writes_outside)
  push_result emplace(Make make, time_point captured = {}) {
    return core_->emplace_for(nullptr, make, captured);
  }

  /// Gives an item if there is room, or room is made by the session's `overflow`, and says whether the pipeline has it,
  /// as `push` does. Never blocks and never runs a stage.
  [[nodiscard]] push_result try_push(In&& value, time_point captured = {})
    requires(!writes_outside)
  {
    detail::forwarded_item<In> make{std::move(value)};
    return core_->try_emplace_for(nullptr, make, captured);
  }
  [[nodiscard]] push_result try_push(const In& value, time_point captured = {})
    requires(std::copy_constructible<In> && !writes_outside)
  {
    detail::forwarded_item<const In&> make{value};
    return core_->try_emplace_for(nullptr, make, captured);
  }
  template <class Result>
    requires(std::same_as<Result&, Out>)
  [[nodiscard]] push_result try_push(In&& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<In> make{std::move(value)};
    return core_->try_emplace_for(nullptr, make, captured, std::addressof(into));
  }
  template <class Result>
    requires(std::same_as<Result&, Out> && std::copy_constructible<In>)
  [[nodiscard]] push_result try_push(const In& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<const In&> make{value};
    return core_->try_emplace_for(nullptr, make, captured, std::addressof(into));
  }

  /// Gives an item to a port of a graph of several: the items of all ports with the same number are one item of the
  /// session, and are captured when that of the first port is. One thread at a time a port, any thread for each.
  ///
  /// Waits for room as `push` does. Where ports meet by time, an item without a capture time is one of the moment of
  /// its push, however long it took to come there.
  template <fixed_string Port, class Given>
    requires correct<decltype(detail::port_mistake<In, Out, Port, Given>())>
  push_result push(Given&& given, time_point captured = {}) {
    return core_->template emplace_at_port<detail::port_of<In, Port>>(std::forward<Given>(given), captured, true);
  }
  /// The same where there is room. Never blocks and never runs a stage.
  template <fixed_string Port, class Given>
    requires correct<decltype(detail::port_mistake<In, Out, Port, Given>())>
  [[nodiscard]] push_result try_push(Given&& given, time_point captured = {}) {
    return core_->template emplace_at_port<detail::port_of<In, Port>>(std::forward<Given>(given), captured, false);
  }
  template <fixed_string Port, class Given>
    requires(decltype(detail::port_mistake<In, Out, Port, Given>())::is_mistake)
  mistake_found<decltype(detail::port_mistake<In, Out, Port, Given>())> push(Given&& given, time_point captured = {});
  template <fixed_string Port, class Given>
    requires(decltype(detail::port_mistake<In, Out, Port, Given>())::is_mistake)
  mistake_found<decltype(detail::port_mistake<In, Out, Port, Given>())> try_push(Given&& given,
                                                                                 time_point captured = {});

  /// How many items fit in now: a driver may be told to skip the next one before it is made.
  std::size_t credits() const { return core_->running.is_closed() ? 0 : core_->running.items().free_slots(); }

  /// For another item: deduced and never defined, since clang would go on to convert a type that is incomplete.
  template <detail::no_item_of<In> Given,
            class Mistake = pipeline_takes_another_item<detail::wants_item<In>, gives<Given>>>
  auto try_push(const Given& value);
  template <class Mistake = item_cannot_be_copied_move_it_in<In>>
  auto try_push(const In& value)
    requires(!std::copy_constructible<In>);
  template <class Given, detail::no_item_of<time_point> When,
            class Mistake = item_is_captured_at_a_time_point_of_the_steady_clock<When>>
    requires(!writes_outside)
  auto try_push(const Given& value, const When& captured);

  /// The next result in input order; filtered, dropped and cancelled items are passed over. Works while it waits. Empty
  /// when the session is closed or cancelled and nothing more comes. One whose move throws is that exception, and
  /// counts as delivered.
  ///
  /// Throws levada::error when nothing is in flight and only the calling thread has ever pushed. A result larger than
  /// `largest_result_by_value` stays in its slot until what is popped ends, which does so before the session:
  /// `slot_result`.
  std::optional<popped_result<Out>> pop() {
    core_->pop_whole();
    std::optional<popped_result<Out>> taken;
    if (!core_->take_single_item(taken) && core_->await_result()) core_->take(taken, nullptr);
    return taken;
  }
  /// The same, and what travelled with the item: its envelope, and data that stages attached. A failed item has none,
  /// `Side{}`. Throws levada::error, and leaves the item, where no stage attaches such data.
  template <class... Side>
  std::optional<popped_result<Out>> pop(item_envelope& envelope, Side&... side) {
    core_->pop_whole();
    std::optional<popped_result<Out>> taken;
    if (core_->await_result()) core_->take(taken, &envelope, side...);
    return taken;
  }

  /// The next result if it is there. Never blocks and never runs a stage.
  std::optional<popped_result<Out>> try_pop() { return core_->try_take(nullptr); }
  template <class... Side>
  std::optional<popped_result<Out>> try_pop(item_envelope& envelope, Side&... side) {
    return core_->try_take(&envelope, side...);
  }

  /// The next result of one of several outputs, in input order: of each item every output is popped, by one thread at a
  /// time an output, any thread for each, and its slot is free behind the last.
  ///
  /// An item that failed is the exception at each of them. Waits as `pop` does; throws levada::error, too, when the
  /// session is full of what another output has not popped, and only the calling thread has ever popped from any.
  template <fixed_string Output>
    requires correct<decltype(detail::output_mistake<Out, Output>())>
  auto pop() {
    return core_->template take_from_output<detail::port_of<Out, Output>>(nullptr, true);
  }
  template <fixed_string Output>
    requires correct<decltype(detail::output_mistake<Out, Output>())>
  auto pop(item_envelope& envelope) {
    return core_->template take_from_output<detail::port_of<Out, Output>>(&envelope, true);
  }
  /// The same if it is there. Never blocks and never runs a stage.
  template <fixed_string Output>
    requires correct<decltype(detail::output_mistake<Out, Output>())>
  auto try_pop() {
    return core_->template take_from_output<detail::port_of<Out, Output>>(nullptr, false);
  }
  template <fixed_string Output>
    requires(decltype(detail::output_mistake<Out, Output>())::is_mistake)
  mistake_found<decltype(detail::output_mistake<Out, Output>())> pop();
  template <fixed_string Output>
    requires(decltype(detail::output_mistake<Out, Output>())::is_mistake)
  mistake_found<decltype(detail::output_mistake<Out, Output>())> try_pop();

  /// No more items will be pushed, by any thread; those in flight go on. A push to a port that has begun is waited for,
  /// and one that comes later is refused. Whole items are pushed by one thread, which says this itself, or has ended
  /// its pushes before.
  void close() {
    if constexpr (is_named_items<In>) core_->ports.close_all(core_->running.items());
    if constexpr (detail::meets_by_time<In>)
      if (!core_->ports.is_empty()) return;  // the rest is let in as results are popped
    core_->running.close();
  }

  /// No more items will be pushed to that port; those of others that lack a partner from it are dropped.
  ///
  /// Where ports meet by number, a push of such an item, also one that waits, throws levada::cancelled, and the session
  /// is closed when the others have given as many.
  ///
  /// Where they meet by time, items of the first port meet what the closed one gave and wait for no more, and the
  /// session is closed with its first port.
  template <fixed_string Port>
    requires correct<decltype(detail::port_mistake<In, Out, Port>())>
  void close() {
    detail::engine& items = core_->running.items();
    if (items.pushed() != 0 && !core_->ports.is_used())
      throw error("levada: close: items were pushed whole before, and no port can be closed alone");
    core_->ports.close(items, detail::port_of<In, Port>);
    core_->close_behind_last();
    items.tell_waiters();
  }
  template <fixed_string Port>
    requires(decltype(detail::port_mistake<In, Out, Port>())::is_mistake)
  mistake_found<decltype(detail::port_mistake<In, Out, Port>())> close();

  /// Works and waits until all that was pushed is finished and waits to be popped, or can go no further before results
  /// of a changed rate are. In the time of a clock, what that time does not bring is not waited for: see `due`.
  void drain() { core_->drain(); }

  /// Waits until all that was pushed is finished, and gives every stage the state it had when the session was opened.
  /// Only by the pushing thread. Throws levada::error where a state cannot be copied, or results wait to be popped
  /// before the rest can be finished.
  void reset() {
    drain();
    if (core_->running.is_backed_up())
      throw error("levada: reset: results wait, and what is behind them is not finished");
    core_->running.reset_states();
  }

  /// Items that are not finished are given up, at their next stage, and nothing more is taken. Of items that a stage
  /// takes together only the one that it is at goes through it.
  void cancel() { core_->running.cancel(); }

  /// Closed or cancelled, and everything popped.
  bool is_over() const {
    if constexpr (is_named_items<Out>)
      if (core_->outputs.is_used()) return core_->running.has_all() && core_->running.results().all_popped();
    return core_->running.changes_rate() ? core_->running.is_over()
                                         : core_->running.has_all() && core_->running.items().all_popped();
  }

  /// Where the rate changes: of each region's own items, the first being those that are pushed.
  item_counts counts(std::size_t region) const { return core_->running.counts(region); }
  std::size_t regions() const { return core_->running.regions(); }

  /// An item of which only some ports have given their parts is in flight, and dropped when the session is closed.
  item_counts counts() const { return core_->counts(); }

  /// Others than the last thread that pushed may push the next item: `pop` waits for them. Said by multi_producer,
  /// which has them push one at a time.
  void allow_multiple_producers()
    requires(!writes_outside)
  {
    core_->unknown_pushers = true;
  }

  /// The time that it goes by: the machine's, or that of the clock it was opened with.
  time_point now() const { return core_->running.items().settings().now(); }

  /// When the next thing is given, whatever comes: a batch with a timeout, or an item that waits for a port that
  /// stalls. For the thread that moves the clock. Empty: never.
  std::optional<time_point> due() const {
    const std::int64_t at = core_->running.due();
    return at != detail::session_settings::never ? std::optional(time_point(std::chrono::nanoseconds(at)))
                                                 : std::nullopt;
  }

  /// Switches measuring on or off, at any moment, from any thread. The first time allocates; what is measured adds up.
  void measure(bool on = true) { core_->running.measure(on); }
  /// The measurements so far, for any thread.
  session_statistics statistics() const { return core_->running.statistics(); }
  /// Measures, and keeps the last `events` of each worker, in fresh rings; 0 keeps none. For any thread; waits for
  /// stages that run. Throws std::bad_alloc where there is no memory for so many.
  void trace(std::size_t events = 65'536) { core_->running.trace(events); }
  /// The same as a part of a caller's trace. Nodes on other machines that keep traces do so for this one, too.
  void trace(const trace_context& of, std::size_t events = 65'536) { core_->running.trace(of, events); }
  /// The events kept so far, to be written by interop/trace.hpp. For any thread; waits for stages that run.
  session_trace traced() const { return core_->running.traced(); }

 private:
  template <class>
  friend class detail::result_dispatcher;
  friend detail::failure_calls<session>;

  template <class F>
  void listen(F f) {
    if (core_->running.items().pushed() != 0) throw error("levada: on_error: an item was pushed before it");
    core_->failure_listener = detail::erased_object::make<F>(std::move(f));
    const detail::failure_hook hook{[](void* object, std::uint64_t sequence, const std::exception_ptr& why) noexcept {
                                      (*static_cast<F*>(object))(sequence, why);
                                    },
                                    core_->failure_listener.get()};
    core_->running.set_failure_hook(hook);
  }

  using core_state = detail::session_exit<In, Out, Executor>;
  detail::owner<core_state> core_;
};

}  // namespace levada
