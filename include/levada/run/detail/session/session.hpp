// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session.hpp: push and pop with the item types of a pipeline.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include <levada/core/detail/result.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/session_core.hpp>
#include <levada/run/detail/session/held_results.hpp>
#include <levada/run/detail/session/port_feed.hpp>
#include <levada/run/detail/session/port_results.hpp>
#include <levada/run/detail/session/push_calls.hpp>
#include <levada/run/detail/session/push_result.hpp>
#include <levada/run/detail/session/time_feed.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {
namespace detail {

template <class Session>
class result_dispatcher;

/// Makes an item of one that is there: `Given` is `In` where it may be moved, or `const In&`. A type of its own, since
/// a lambda's symbol is long.
template <class Given>
struct forwarded_item {
  Given&& item;
  Given&& operator()() const { return static_cast<Given&&>(item); }
};

/// What can hear of failed items.
template <class F>
concept hears_of_failures = std::is_nothrow_invocable_v<F&, std::uint64_t, const std::exception_ptr&>;

}  // namespace detail

/// One running instance of an app: its own stage state and slots, the app's weights and plan. One thread pushes and one
/// pops at a time; they may be the same. Movable; its end cancels what is in flight. `Out` is void behind a sink: then
/// only failed items are popped. It is a reference in a session with `external_results`.
template <class In, class Out, class Executor>
class session {
 public:
  using item = In;
  using output = Out;
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr bool writes_outside = std::is_reference_v<Out>;

  session(std::shared_ptr<detail::deployment<Executor>> of, std::stop_token stop,
          const detail::session_settings& settings = {})
      : core_(new core_state(std::move(of), std::move(stop), settings)) {}

  /// Gives an item to the pipeline, captured at a time that travels with it, and says whether the pipeline has it: else
  /// the item is as it was, and is the caller's or was dropped. While it is full it waits, and works, or does what the
  /// session's `overflow` says. Throws levada::error when the session is closed or cancelled, or when it is full of
  /// results and no other thread has come to pop any for some seconds.
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
    return emplace_for(nullptr, make, captured, std::addressof(into));
  }
  template <class Result>
    requires(std::same_as<Result&, Out> && std::copy_constructible<In>)
  push_result push(const In& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<const In&> make{value};
    return emplace_for(nullptr, make, captured, std::addressof(into));
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

  /// Gives what `make()` returns, constructed in its slot.
  template <class Make>
    requires(std::constructible_from<In, std::invoke_result_t<Make&>> && !writes_outside)
  push_result emplace(Make make, time_point captured = {}) {
    return emplace_for(nullptr, make, captured);
  }

  /// Gives an item if there is room, or room is made by the session's `overflow`, and says whether the pipeline has it,
  /// as `push` does. Never blocks and never runs a stage.
  [[nodiscard]] push_result try_push(In&& value, time_point captured = {})
    requires(!writes_outside)
  {
    return try_emplace(detail::forwarded_item<In>{std::move(value)}, captured);
  }
  [[nodiscard]] push_result try_push(const In& value, time_point captured = {})
    requires(std::copy_constructible<In> && !writes_outside)
  {
    return try_emplace(detail::forwarded_item<const In&>{value}, captured);
  }
  template <class Result>
    requires(std::same_as<Result&, Out>)
  [[nodiscard]] push_result try_push(In&& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<In> make{std::move(value)};
    return try_emplace_for(nullptr, make, captured, std::addressof(into));
  }
  template <class Result>
    requires(std::same_as<Result&, Out> && std::copy_constructible<In>)
  [[nodiscard]] push_result try_push(const In& value, Result& into, time_point captured = {}) {
    detail::forwarded_item<const In&> make{value};
    return try_emplace_for(nullptr, make, captured, std::addressof(into));
  }

  /// Gives an item to a port of a graph of several: the items of all ports with the same number are one item of the
  /// session, and are captured when that of the first port is. One thread at a time a port, any thread for each. Waits
  /// for room as `push` does. Where ports meet by time, an item without a capture time is one of the moment of its
  /// push, however long it took to come there.
  template <fixed_string Port, class Given>
    requires correct<decltype(detail::port_mistake<In, Out, Port, Given>())>
  push_result push(Given&& given, time_point captured = {}) {
    return emplace_at_port<detail::port_of<In, Port>>(std::forward<Given>(given), captured, true);
  }
  /// The same where there is room. Never blocks and never runs a stage.
  template <fixed_string Port, class Given>
    requires correct<decltype(detail::port_mistake<In, Out, Port, Given>())>
  [[nodiscard]] push_result try_push(Given&& given, time_point captured = {}) {
    return emplace_at_port<detail::port_of<In, Port>>(std::forward<Given>(given), captured, false);
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
  /// counts as delivered. Throws levada::error when nothing is in flight and only the calling thread has ever pushed. A
  /// result larger than `largest_result_by_value` stays in its slot until what is popped ends, which does so before the
  /// session: `slot_result`.
  std::optional<popped_result<Out>> pop() {
    pop_whole();
    std::optional<popped_result<Out>> taken;
    if (!take_single_item(taken) && await_result()) take(taken, nullptr);
    return taken;
  }
  /// The same, and what travelled with the item: its envelope, and data that stages attached. A failed item has none,
  /// `Side{}`. Throws levada::error, and leaves the item, where no stage attaches such data.
  template <class... Side>
  std::optional<popped_result<Out>> pop(item_envelope& envelope, Side&... side) {
    pop_whole();
    std::optional<popped_result<Out>> taken;
    if (await_result()) take(taken, &envelope, side...);
    return taken;
  }

  /// The next result if it is there. Never blocks and never runs a stage.
  std::optional<popped_result<Out>> try_pop() { return try_take(nullptr); }
  template <class... Side>
  std::optional<popped_result<Out>> try_pop(item_envelope& envelope, Side&... side) {
    return try_take(&envelope, side...);
  }

  /// The next result of one of several outputs, in input order: of each item every output is popped, by one thread at a
  /// time an output, any thread for each, and its slot is free behind the last. An item that failed is the exception at
  /// each of them. Waits as `pop` does; throws levada::error, too, when the session is full of what another output has
  /// not popped, and only the calling thread has ever popped from any.
  template <fixed_string Output>
    requires correct<decltype(detail::output_mistake<Out, Output>())>
  auto pop() {
    return take_from_output<detail::port_of<Out, Output>>(nullptr, true);
  }
  template <fixed_string Output>
    requires correct<decltype(detail::output_mistake<Out, Output>())>
  auto pop(item_envelope& envelope) {
    return take_from_output<detail::port_of<Out, Output>>(&envelope, true);
  }
  /// The same if it is there. Never blocks and never runs a stage.
  template <fixed_string Output>
    requires correct<decltype(detail::output_mistake<Out, Output>())>
  auto try_pop() {
    return take_from_output<detail::port_of<Out, Output>>(nullptr, false);
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

  /// No more items will be pushed to that port; those of others that lack a partner from it are dropped. Where ports
  /// meet by number, a push of such an item, also one that waits, throws levada::cancelled, and the session is closed
  /// when the others have given as many. Where they meet by time, items of the first port meet what the closed one gave
  /// and wait for no more, and the session is closed with its first port.
  template <fixed_string Port>
    requires correct<decltype(detail::port_mistake<In, Out, Port>())>
  void close() {
    detail::engine& items = core_->running.items();
    if (items.pushed() != 0 && !core_->ports.is_used())
      throw error("levada: close: items were pushed whole before, and no port can be closed alone");
    core_->ports.close(items, detail::port_of<In, Port>);
    close_behind_last();
    items.tell_waiters();
  }
  template <fixed_string Port>
    requires(decltype(detail::port_mistake<In, Out, Port>())::is_mistake)
  mistake_found<decltype(detail::port_mistake<In, Out, Port>())> close();

  /// Works and waits until all that was pushed is finished and waits to be popped, or can go no further before results
  /// of a changed rate are. In the time of a clock, what that time does not bring is not waited for: see `due`.
  void drain() {
    core_->running.wait_until([&] { return core_->running.all_settled(); });
  }

  /// Waits until all that was pushed is finished, and gives every stage the state it had when the session was opened.
  /// Only by the pushing thread. Throws levada::error where a state cannot be copied, or results wait to be popped
  /// before the rest can be finished.
  void reset() {
    drain();
    if (core_->running.is_backed_up())
      throw error("levada: reset: results wait, and what is behind them is not finished");
    core_->running.reset_states();
  }

  /// `f(sequence, exception)` is called for each item that fails, on the thread where it failed and before its result
  /// can be popped; at once for two items that fail in a parallel stage. To be said before the first push; throws
  /// levada::error behind it.
  template <class F>
    requires detail::hears_of_failures<F>
  void on_error(F f) {
    if (core_->running.items().pushed() != 0) throw error("levada: on_error: an item was pushed before it");
    core_->failure_listener = detail::erased_object::make<F>(std::move(f));
    const detail::failure_hook hook{[](void* object, std::uint64_t sequence, const std::exception_ptr& why) noexcept {
                                      (*static_cast<F*>(object))(sequence, why);
                                    },
                                    core_->failure_listener.get()};
    core_->running.set_failure_hook(hook);
  }
  template <class F, class Mistake = on_error_takes_a_noexcept_function_of_a_sequence_number_and_an_exception<F>>
    requires(!detail::hears_of_failures<F>)
  auto on_error(F f);

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
  item_counts counts() const {
    item_counts all = core_->running.items().counts();
    if constexpr (is_named_items<In>) {
      const std::uint64_t incomplete = core_->ports.incomplete(core_->running.items());
      all.pushed += incomplete;
      if (core_->running.is_cancelled()) {
        all.cancelled += incomplete;
      } else {
        const std::uint64_t alone =
            core_->running.is_closed() ? incomplete : std::min(incomplete, core_->ports.partnerless());
        all.dropped += alone, all.drops.partnerless += alone, all.in_flight += incomplete - alone;
      }
    }
    return all;
  }

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
  /// stalls. For who moves the clock. Empty: never.
  std::optional<time_point> due() const {
    const std::int64_t at = core_->running.due();
    return at != detail::session_settings::never ? std::optional(time_point(std::chrono::nanoseconds(at)))
                                                 : std::nullopt;
  }

  /// Switches measuring on or off, at any moment, from any thread. The first time allocates; what is measured adds up.
  void measure(bool on = true) { core_->running.measure(on); }
  /// What was measured so far, for any thread to look at.
  session_statistics statistics() const { return core_->running.statistics(); }
  /// Measures, and keeps the last `events` of each worker, in fresh rings; 0 keeps none. For any thread; waits for
  /// stages that run. Throws std::bad_alloc where there is no memory for so many.
  void trace(std::size_t events = 65'536) { core_->running.trace(events); }
  /// The events kept so far, to be written by interop/trace.hpp. For any thread; waits for stages that run.
  session_trace traced() const { return core_->running.traced(); }

 private:
  template <class>
  friend class detail::result_dispatcher;

  struct core_state {
    core_state(std::shared_ptr<detail::deployment<Executor>> of, std::stop_token stop,
               const detail::session_settings& given)
        : spare(given.drops_older() ? detail::arena_bytes(sizeof(In), alignof(In)) : detail::arena_bytes()),
          running(std::move(of), false, std::move(stop), given, detail::admission_queue_of(ports)) {
      if (!given.waits_when_full()) running.invite_always();
    }
    detail::erased_object failure_listener;
    detail::arena_bytes spare;  ///< where an item is constructed before another gives way to it
    [[no_unique_address]] detail::port_feed_of<In> ports;  ///< workers may be at it as long as it runs
    detail::session_core<Executor> running;
    ~core_state() {
      if constexpr (is_named_items<In>) ports.discard(running.items());
    }
    detail::atomic<detail::thread_mark> pusher{nullptr}, popper{nullptr};
    detail::atomic<bool> unknown_pushers{false};  ///< others than the last one may push
    [[no_unique_address]] detail::port_results<Out> outputs;
    [[no_unique_address]] detail::held_results<Out> held;
    detail::atomic<bool> popped_whole{false};

    /// Items that gave way to newer ones, for who tells of them.
    void leave_dropped(detail::completion& of) {
      of.next = dropped.load();
      while (!dropped.compare_exchange_weak(of.next, &of)) {
      }
    }
    detail::atomic<detail::completion*> dropped{nullptr};
  };

  /// Items of several ports are pushed whole or by ports, not in turns.
  void refuse_after_ports() const {
    if constexpr (is_named_items<In>)
      if (core_->ports.is_used())
        throw error("levada: push: items were pushed by ports before, and cannot be pushed whole now");
  }

  /// Results of several outputs are popped whole or by their names, not in turns.
  void pop_whole() {
    if constexpr (is_named_items<Out>) {
      if (core_->outputs.is_used())
        throw error("levada: pop: results were popped by outputs before, and cannot be popped whole now");
      core_->popped_whole.store(true, std::memory_order_relaxed);
    }
  }

  template <std::size_t P>
  auto take_from_output(item_envelope* envelope, bool waits) {
    using part = typename detail::port_results<Out>::template item<P>;
    if (core_->popped_whole.load(std::memory_order_relaxed))
      throw error("levada: pop: results were popped whole before, and cannot be popped by outputs now");
    detail::engine& items = core_->running.results();
    if (items.settings().deadline_at_output)
      throw error("levada: pop: a session that looks at its deadline at the output is popped whole, not by outputs");
    auto& outputs = core_->outputs;
    core_->popper.store(detail::this_thread_mark(), std::memory_order_relaxed);
    if (waits) {
      outputs.template check_free<P>();
      await_output<P>();
    }
    std::optional<popped_result<part>> taken;
    if (outputs.template has_result<P>(items)) {
      if (envelope != nullptr) *envelope = outputs.template envelope<P>(items);
      outputs.template take<P>(items, taken);
      let_in();
    }
    if (!waits && (!taken || core_->running.changes_rate())) core_->running.invite_if_idle();
    return taken;
  }
  template <std::size_t P>
  void await_output() {
    detail::engine& items = core_->running.results();
    auto& outputs = core_->outputs;
    const auto has = [&] {
      let_in();
      return outputs.template has_result<P>(items) || core_->running.has_all();
    };
    const auto is_full = [&] { return outputs.template waits_for_others<P>(items); };
    while (!has()) {
      if (is_full()) {
        const detail::atomic<detail::thread_mark> other = outputs.poppers().other_than(P);
        core_->running.wait_for_another(
            [&] { return has() || !is_full(); }, other,
            "levada: pop: the session is full of what another output has not popped, and only this thread ever popped");
      } else {
        await_pusher([&] { return has() || is_full(); });
      }
    }
  }

  template <std::size_t P, class Given>
  push_result emplace_at_port(Given&& given, time_point captured, bool waits) {
    detail::engine& items = core_->running.items();
    auto& ports = core_->ports;
    const detail::session_settings& settings = items.settings();
    const overflow_policy policy = settings.overflow_of(P);
    if (settings.latest_only || (!detail::meets_by_time<In> && detail::drops(policy)))
      throw error(
          "levada: push: a session that drops items is pushed whole items, not ports: they would lose their partners");
    if (items.pushed() != 0 && !ports.is_used())
      throw error("levada: push: items were pushed whole before, and cannot be pushed by ports now");
    core_->unknown_pushers = true;
    const auto is_closed = [&] { return core_->running.is_closed() || !ports.template takes<P>(); };
    const auto refuse = [&] {
      if (waits)
        throw cancelled(core_->running.is_closed()
                            ? "levada: push: the session is closed or cancelled"
                            : "levada: push: this port is closed, or another that gives no more partners");
      return push_outcome::refused;
    };
    const auto room = [&] { return ports.template has_room<P>(items) || is_closed(); };
    if (waits && policy == overflow_policy::block && !room()) {
      if (const detail::atomic<detail::thread_mark> other = ports.pushers().other_than(P);
          ports.template is_ahead<P>(items))
        core_->running.wait_for_another(
            room, other, "levada: push: this port is full, and only this thread has ever pushed to the others");
      else
        await_popper(room);
    }
    if (is_closed()) return refuse();
    if (!waits || policy != overflow_policy::block) core_->running.invite_always();
    if (!make_room<P>(policy, waits)) {
      if (!detail::drops(policy)) {
        items.count_refused();
        return push_outcome::refused;
      }
      if (P == 0) items.count_dropped_at_the_door(detail::drop_reason::rejected);
      return push_outcome::dropped;
    }
    if (captured == time_point() &&
        (detail::meets_by_time<In> || settings.deadline.count() != 0 || settings.clock != nullptr))
      captured = settings.now();
    detail::forwarded_item<Given> make{std::forward<Given>(given)};
    if (!ports.template place<P>(items, make, captured)) return refuse();
    close_behind_last();
    if (items.is_cancelled()) drain();
    return push_outcome::taken;
  }

  /// Says whether a port has room now, by its oldest item if that is to give way. It does not while another thread lets
  /// items meet, which who waits waits for.
  template <std::size_t P>
  bool make_room([[maybe_unused]] overflow_policy policy, [[maybe_unused]] bool waits) {
    detail::engine& items = core_->running.items();
    auto& ports = core_->ports;
    if constexpr (detail::meets_by_time<In>)
      while (policy == overflow_policy::drop_oldest && !ports.template has_room<P>(items) &&
             !ports.template drop_oldest<P>(items)) {
        if (!waits) return false;
        detail::yield_thread();
      }
    return ports.template has_room<P>(items);
  }

  /// `told` hears what becomes of the item, where the session completes items: run/detail/workers/completion.hpp.
  /// `into`: where its result goes, where the caller says so.
  template <class Make>
  push_result emplace_for(detail::completion* told, Make& make, time_point captured, void* into = nullptr) {
    detail::engine& items = core_->running.items();
    refuse_after_ports();
    if (items.free_slots() == 0 && items.settings().waits_when_full()) [[unlikely]]
      await_popper([&] { return items.free_slots() != 0 || core_->running.is_closed(); });
    if (core_->running.is_closed()) throw cancelled("levada: push: the session is closed or cancelled");
    const bool runs_here = items.settings().inline_when_idle && items.all_finished();
    const push_result taken = place(told, make, captured, into, items.settings().waits_when_full(), runs_here);
    if (runs_here) {
      while (!items.all_finished() && core_->running.help()) {
      }
      if (!items.all_finished()) items.hand_over();
    }
    // Who cancelled meanwhile may have seen an empty session and gone: nobody else would end this item.
    if (items.is_cancelled()) drain();
    return taken;
  }

  /// There is room when results are popped.
  template <class Room>
  void await_popper(const Room& room) {
    if constexpr (is_named_items<Out>)
      if (core_->outputs.has_several_poppers()) return core_->running.wait_until(room);
    core_->running.wait_for_another(room, core_->popper,
                                    "levada: push: the pipeline is full of results, and no other thread pops any");
  }

  /// Says whether there is one; else nothing more comes.
  bool await_result() {
    detail::engine& items = core_->running.results();
    core_->popper.store(detail::this_thread_mark(), std::memory_order_relaxed);
    if (items.has_result() || (core_->running.help() && items.has_result())) return true;
    core_->held.check_free();
    for (;;) {
      await_pusher([&] {
        let_in();  // items that gave no result left room, too
        return items.has_result() || core_->running.is_over();
      });
      if (items.has_result()) return true;
      if (core_->running.is_over()) return false;  // else it has become overdue meanwhile
    }
  }
  /// What is not in flight comes when it is pushed; where nobody has pushed yet, or not to every port, somebody may be
  /// on the way.
  template <class Done>
  void await_pusher(const Done& done) {
    if constexpr (is_named_items<In>)
      if (core_->ports.is_used() && core_->ports.are_all_of_this_thread()) {
        const detail::atomic<detail::thread_mark> nobody{nullptr};
        return core_->running.wait_for_another(done, nobody, only_pusher);
      }
    if (core_->unknown_pushers || core_->pusher.load() == nullptr)
      core_->running.wait_until(done);
    else
      core_->running.wait_for_another(done, core_->pusher, only_pusher);
  }
  static constexpr const char* only_pusher = "levada: pop: nothing is in flight, and only this thread has ever pushed";

  template <class... Side>
  std::optional<popped_result<Out>> try_take(item_envelope* envelope, Side&... side) {
    pop_whole();
    core_->popper.store(detail::this_thread_mark(), std::memory_order_relaxed);
    std::optional<popped_result<Out>> taken;
    if (core_->running.results().has_result()) take(taken, envelope, side...);
    if (!taken) let_in();
    if (!taken || core_->running.changes_rate())
      core_->running.invite_if_idle();  // there is room again behind a region
    return taken;
  }

  template <class Make>
  push_result try_emplace(Make make, time_point captured) {
    return try_emplace_for(nullptr, make, captured);
  }
  template <class Make>
  push_result try_emplace_for(detail::completion* told, Make& make, time_point captured, void* into = nullptr) {
    if (core_->running.is_closed()) return push_outcome::refused;
    refuse_after_ports();
    core_->running.invite_always();
    return place(told, make, captured, into, false, false);
  }

  /// Puts the item into a free slot, or does what the session's policy says where there is none.
  template <class Make>
  push_result place(detail::completion* told, Make& make, time_point captured, void* into, bool has_room,
                    bool runs_here) {
    detail::engine& items = core_->running.items();
    core_->pusher.store(detail::this_thread_mark(), std::memory_order_relaxed);
    if constexpr (std::is_nothrow_move_constructible_v<In>)
      if (!items.is_usual() &&
          (items.settings().latest_only
               ? items.has_waiting()
               : items.settings().overflow == overflow_policy::drop_oldest && items.free_slots() == 0))
        return place_for_oldest(told, make, captured, into, has_room, runs_here);
    return place_if_room(told, make, captured, into, has_room, runs_here);
  }

  /// The item is made first, so that the oldest gives way to one that is there; one that the caller moves in is there.
  template <class Make>
  [[gnu::noinline]] push_result place_for_oldest(detail::completion* told, Make& make, time_point captured, void* into,
                                                 bool has_room, bool runs_here) {
    if constexpr (std::is_same_v<Make, detail::forwarded_item<In>>) {
      if (replace_oldest(told, make.item, captured)) return push_outcome::taken;
      return place_if_room(told, make, captured, into, has_room, runs_here);
    }
    struct made_first {
      In* item;
      ~made_first() { std::destroy_at(item); }
    } const fresh{::new (static_cast<void*>(core_->spare.get())) In(make())};
    if (replace_oldest(told, *fresh.item, captured)) return push_outcome::taken;
    detail::forwarded_item<In> from_there{std::move(*fresh.item)};
    return place_if_room(told, from_there, captured, into, has_room, runs_here);
  }

  template <class Make>
  push_result place_if_room(detail::completion* told, Make& make, time_point captured, [[maybe_unused]] void* into,
                            bool has_room, bool runs_here) {
    detail::engine& items = core_->running.items();
    if (!has_room && items.free_slots() == 0) {
      if (!items.settings().drops()) {
        // A coroutine waits for room, and is no push that was refused.
        if (told == nullptr || !items.settings().waits_when_full()) items.count_refused();
        return push_outcome::refused;
      }
      items.count_dropped_at_the_door(detail::drop_reason::rejected);
      return push_outcome::dropped;
    }
    if constexpr (writes_outside) items.set_output(into);
    const std::size_t slot = items.next_slot();
    void* const at = items.place_in(slot);
    ::new (at) In(make());
    items.envelope_in(slot) = envelope_of(captured);
    if (items.hands_out_all()) items.completion_in(slot) = told;
    items.set_input_in(slot, at);
    if (runs_here || !items.publish_to_nobody()) items.publish(1, runs_here);
    return push_outcome::taken;
  }

  /// The oldest item that waits gives way, and the new one waits behind the others. False where none waits any more.
  bool replace_oldest(detail::completion* told, In& fresh, time_point captured) {
    detail::engine& items = core_->running.items();
    const std::size_t count = items.take_back_waiting();
    if (count == 0) return false;
    const auto waiting = [&](std::size_t i) { return static_cast<In*>(items.waiting_place(i, count)); };
    std::destroy_at(waiting(0));
    detail::completion* const gone = items.waiting_completion(0, count);
    for (std::size_t i = 1; i < count; ++i) {
      ::new (static_cast<void*>(waiting(i - 1))) In(std::move(*waiting(i)));
      std::destroy_at(waiting(i));
      items.waiting_envelope(i - 1, count) = items.waiting_envelope(i, count);
      items.waiting_completion(i - 1, count) = items.waiting_completion(i, count);
    }
    ::new (static_cast<void*>(waiting(count - 1))) In(std::move(fresh));
    items.waiting_envelope(count - 1, count) = envelope_of(captured);
    items.waiting_completion(count - 1, count) = told;
    items.count_dropped_at_the_door(detail::drop_reason::replaced);
    if (gone != nullptr) core_->leave_dropped(*gone);
    items.give_back(count);
    return true;
  }

  [[gnu::always_inline]] item_envelope envelope_of(time_point captured) const {
    const detail::engine& items = core_->running.items();
    const detail::session_settings& settings = items.settings();
    if (captured == time_point() && !items.is_usual() && (settings.deadline.count() != 0 || settings.clock != nullptr))
      captured = settings.now();
    return {items.next_sequence(), captured};
  }

  /// What is at the head. Constructs the result where the caller wants it: a large one has no place on the stack.
  template <class... Side>
  void take(std::optional<popped_result<Out>>& taken, item_envelope* envelope, Side&... side) {
    detail::engine& items = core_->running.results();
    ((side = items.head_state() == detail::item_state::value
                 ? *static_cast<const Side*>(items.head_side(detail::side_key_of<Side>))
                 : Side{}),
     ...);
    if (envelope != nullptr) *envelope = items.head_envelope();
    if (items.head_state() == detail::item_state::failed) {
      taken.emplace(items.head_error());
      items.drop_head();
    } else if constexpr (detail::is_large_result<Out>) {
      core_->held.hand_out(items, taken);
    } else {
      if constexpr (writes_outside)
        taken.emplace(*static_cast<std::remove_reference_t<Out>*>(items.head_value()));
      else if constexpr (!std::is_void_v<Out>)
        taken.emplace(moved_from, *static_cast<Out*>(items.head_value()));
      items.drop_head();
    }
    core_->held.free(items);
    let_in();
  }
  /// Who pushes and pops in turns has each item run by `pop`.
  bool take_single_item([[maybe_unused]] std::optional<popped_result<Out>>& taken) {
    // Only chains run so, whose items need no destruction.
    if constexpr (std::is_nothrow_move_constructible_v<Out> && std::is_trivially_destructible_v<Out> &&
                  std::is_trivially_destructible_v<In> && !writes_outside && !is_named_items<Out> &&
                  !detail::is_large_result<Out> && !detail::meets_by_time<In>) {
      core_->popper.store(detail::this_thread_mark(), std::memory_order_relaxed);
      return core_->running.pop_single_item([&](void* value) { taken.emplace(moved_from, *static_cast<Out*>(value)); });
    } else {
      return false;
    }
  }
  /// There is room for items that wait before the pipeline.
  void let_in() {
    if constexpr (detail::meets_by_time<In>) {
      core_->ports.meet(core_->running.items());
      close_behind_last();
    }
  }
  /// Nothing waits before it any more, and nothing more comes.
  void close_behind_last() {
    if constexpr (is_named_items<In>)
      if (core_->ports.is_over(core_->running.items())) core_->running.close();
  }

  detail::owner<core_state> core_;
};

}  // namespace levada
