// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_entry.hpp: how items come into a session, whole or by ports: into free slots, or as its
// overflow policy says.

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/port_feed.hpp>
#include <levada/run/detail/session/push_result.hpp>
#include <levada/run/detail/session/session_state.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Makes an item of one that is there: `Given` is `In` where it may be moved, or `const In&`. A type of its own, since
/// a lambda's symbol is long.
template <class Given>
struct forwarded_item {
  Given&& item;
  Given&& operator()() const { return static_cast<Given&&>(item); }
};

/// One thread pushes at a time, or one a port.
template <class In, class Out, class Executor>
class session_entry : public session_state<In, Out, Executor> {
  using base = session_state<In, Out, Executor>;

 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr bool writes_outside = std::is_reference_v<Out>;
  using base::base;
  using base::drain, base::close_behind_last, base::leave_dropped;
  using base::running, base::ports, base::outputs, base::pusher, base::popper, base::unknown_pushers, base::spare;

  /// An item of a port; `waits` for room, or not.
  template <std::size_t P, class Given>
  push_result emplace_at_port(Given&& given, time_point captured, bool waits) {
    engine& items = running.items();
    const session_settings& settings = items.settings();
    const overflow_policy policy = settings.overflow_of(P);
    if (settings.latest_only || (!meets_by_time<In> && drops(policy)))
      throw error(
          "levada: push: a session that drops items is pushed whole items, not ports: they would lose their partners");
    if (items.pushed() != 0 && !ports.is_used())
      throw error("levada: push: items were pushed whole before, and cannot be pushed by ports now");
    unknown_pushers = true;
    const auto is_closed = [&] { return running.is_closed() || !ports.template takes<P>(); };
    const auto refuse = [&] {
      if (waits)
        throw cancelled(running.is_closed()
                            ? "levada: push: the session is closed or cancelled"
                            : "levada: push: this port is closed, or another that gives no more partners");
      return push_outcome::refused;
    };
    const auto room = [&] { return ports.template has_room<P>(items) || is_closed(); };
    if (waits && policy == overflow_policy::block && !room()) {
      if (const atomic<thread_mark> other = ports.pushers().other_than(P); ports.template is_ahead<P>(items))
        running.wait_for_another(room, other,
                                 "levada: push: this port is full, and only this thread has ever pushed to the others");
      else
        await_popper(room);
    }
    if (is_closed()) return refuse();
    if (!waits || policy != overflow_policy::block) running.invite_always();
    if (!make_room<P>(policy, waits)) {
      if (!drops(policy)) {
        items.count_refused();
        return push_outcome::refused;
      }
      if (P == 0) items.count_dropped_at_admission(drop_reason::rejected);
      return push_outcome::dropped;
    }
    if (captured == time_point() && (meets_by_time<In> || settings.deadline.count() != 0 || settings.clock != nullptr))
      captured = settings.now();
    forwarded_item<Given> make{std::forward<Given>(given)};
    if (!ports.template place<P>(items, make, captured)) return refuse();
    close_behind_last();
    if (items.is_cancelled()) drain();
    return push_outcome::taken;
  }

  /// `observer` hears the outcome of the item, where the session completes items: run/detail/workers/completion.hpp.
  /// `into`: where its result goes, where the caller says so.
  template <class Make>
  push_result emplace_for(completion* observer, Make& make, time_point captured, void* into = nullptr) {
    engine& items = running.items();
    refuse_after_ports();
    if (items.free_slots() == 0 && items.settings().waits_when_full()) [[unlikely]]
      await_popper([&] { return items.free_slots() != 0 || running.is_closed(); });
    if (running.is_closed()) throw cancelled("levada: push: the session is closed or cancelled");
    const bool runs_here = items.settings().inline_when_idle && items.all_finished();
    const push_result taken = place(observer, make, captured, into, items.settings().waits_when_full(), runs_here);
    if (runs_here) {
      while (!items.all_finished() && running.help()) {
      }
      if (!items.all_finished()) items.hand_over();
    }
    // A thread that cancelled meanwhile may have seen an empty session and gone: nobody else would end this item.
    if (items.is_cancelled()) drain();
    return taken;
  }

  template <class Make>
  push_result try_emplace_for(completion* observer, Make& make, time_point captured, void* into = nullptr) {
    if (running.is_closed()) return push_outcome::refused;
    refuse_after_ports();
    running.invite_always();
    return place(observer, make, captured, into, false, false);
  }

 private:
  /// Says whether a port has room now, by its oldest item if that is to give way. It does not while another thread lets
  /// items meet, which who waits waits for.
  template <std::size_t P>
  bool make_room([[maybe_unused]] overflow_policy policy, [[maybe_unused]] bool waits) {
    engine& items = running.items();
    if constexpr (meets_by_time<In>)
      while (policy == overflow_policy::drop_oldest && !ports.template has_room<P>(items) &&
             !ports.template drop_oldest<P>(items)) {
        if (!waits) return false;
        yield_thread();
      }
    return ports.template has_room<P>(items);
  }

  /// Items of several ports are pushed whole or by ports, not in turns.
  void refuse_after_ports() const {
    if constexpr (is_named_items<In>)
      if (ports.is_used())
        throw error("levada: push: items were pushed by ports before, and cannot be pushed whole now");
  }

  /// There is room when results are popped.
  template <class Room>
  void await_popper(const Room& room) {
    if constexpr (is_named_items<Out>)
      if (outputs.has_several_poppers()) return running.wait_until(room);
    running.wait_for_another(room, popper,
                             "levada: push: the pipeline is full of results, and no other thread pops any");
  }

  /// Puts the item into a free slot, or does what the session's policy says where there is none.
  template <class Make>
  push_result place(completion* observer, Make& make, time_point captured, void* into, bool has_room, bool runs_here) {
    engine& items = running.items();
    pusher.store(this_thread_mark(), std::memory_order_relaxed);
    if constexpr (std::is_nothrow_move_constructible_v<In>)
      if (!items.is_usual() &&
          (items.settings().latest_only
               ? items.has_waiting()
               : items.settings().overflow == overflow_policy::drop_oldest && items.free_slots() == 0))
        return place_for_oldest(observer, make, captured, into, has_room, runs_here);
    return place_if_room(observer, make, captured, into, has_room, runs_here);
  }

  /// The item is made first, so that the oldest gives way to one that is there; one that the caller moves in is there.
  template <class Make>
  [[gnu::noinline]] push_result place_for_oldest(completion* observer, Make& make, time_point captured, void* into,
                                                 bool has_room, bool runs_here) {
    if constexpr (std::is_same_v<Make, forwarded_item<In>>) {
      if (replace_oldest(observer, make.item, captured)) return push_outcome::taken;
      return place_if_room(observer, make, captured, into, has_room, runs_here);
    }
    struct made_first {
      In* item;
      ~made_first() { std::destroy_at(item); }
    } const fresh{::new (static_cast<void*>(spare.get())) In(make())};
    if (replace_oldest(observer, *fresh.item, captured)) return push_outcome::taken;
    forwarded_item<In> from_there{std::move(*fresh.item)};
    return place_if_room(observer, from_there, captured, into, has_room, runs_here);
  }

  template <class Make>
  push_result place_if_room(completion* observer, Make& make, time_point captured, [[maybe_unused]] void* into,
                            bool has_room, bool runs_here) {
    engine& items = running.items();
    if (!has_room && items.free_slots() == 0) {
      if (!items.settings().drops()) {
        // A coroutine waits for room, and is no push that was refused.
        if (observer == nullptr || !items.settings().waits_when_full()) items.count_refused();
        return push_outcome::refused;
      }
      items.count_dropped_at_admission(drop_reason::rejected);
      return push_outcome::dropped;
    }
    if constexpr (writes_outside) items.set_output(into);
    const std::size_t slot = items.next_slot();
    void* const at = items.place_in(slot);
    ::new (at) In(make());
    items.envelope_in(slot) = envelope_of(captured);
    if (items.hands_out_all()) items.completion_in(slot) = observer;
    items.set_input_in(slot, at);
    if (runs_here || !items.publish_to_nobody()) items.publish(1, runs_here);
    return push_outcome::taken;
  }

  /// The oldest item that waits gives way, and the new one waits behind the others. False where none waits any more.
  bool replace_oldest(completion* observer, In& fresh, time_point captured) {
    engine& items = running.items();
    const std::size_t count = items.take_back_waiting();
    if (count == 0) return false;
    const auto waiting = [&](std::size_t i) { return static_cast<In*>(items.waiting_place(i, count)); };
    std::destroy_at(waiting(0));
    completion* const gone = items.waiting_completion(0, count);
    for (std::size_t i = 1; i < count; ++i) {
      ::new (static_cast<void*>(waiting(i - 1))) In(std::move(*waiting(i)));
      std::destroy_at(waiting(i));
      items.waiting_envelope(i - 1, count) = items.waiting_envelope(i, count);
      items.waiting_completion(i - 1, count) = items.waiting_completion(i, count);
    }
    ::new (static_cast<void*>(waiting(count - 1))) In(std::move(fresh));
    items.waiting_envelope(count - 1, count) = envelope_of(captured);
    items.waiting_completion(count - 1, count) = observer;
    items.count_dropped_at_admission(drop_reason::replaced);
    if (gone != nullptr) leave_dropped(*gone);
    items.give_back(count);
    return true;
  }

  [[gnu::always_inline]] item_envelope envelope_of(time_point captured) const {
    const engine& items = running.items();
    const session_settings& settings = items.settings();
    if (captured == time_point() && !items.is_usual() &&
        (settings.deadline.count() != 0 || settings.clock != nullptr ||
         (settings.watched != nullptr && running.changes_rate())))
      captured = settings.now();
    return {items.next_sequence(), captured};
  }
};

}  // namespace levada::detail
