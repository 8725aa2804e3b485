// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_exit.hpp: how results leave a session, whole or by outputs.

#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/result.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/core/error.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/session/port_results.hpp>
#include <levada/run/detail/session/session_entry.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// One thread pops at a time, or one an output.
template <class In, class Out, class Executor>
class session_exit : public session_entry<In, Out, Executor> {
  using base = session_entry<In, Out, Executor>;

 public:
  using base::base;
  using base::let_in, base::writes_outside;
  using base::running, base::ports, base::outputs, base::held, base::popped_whole, base::pusher, base::popper,
      base::unknown_pushers;

  /// Results of several outputs are popped whole or by their names, not in turns.
  void pop_whole() {
    if constexpr (is_named_items<Out>) {
      if (outputs.is_used())
        throw error("levada: pop: results were popped by outputs before, and cannot be popped whole now");
      popped_whole.store(true, std::memory_order_relaxed);
    }
  }

  template <std::size_t P>
  auto take_from_output(item_envelope* envelope, bool waits) {
    using part = typename port_results<Out>::template item<P>;
    if (popped_whole.load(std::memory_order_relaxed))
      throw error("levada: pop: results were popped whole before, and cannot be popped by outputs now");
    engine& items = running.results();
    if (items.settings().deadline_at_output)
      throw error("levada: pop: a session that looks at its deadline at the output is popped whole, not by outputs");
    if (items.settings().unordered)
      throw error("levada: pop: results that leave as they complete are popped whole, not by outputs");
    popper.store(this_thread_mark(), std::memory_order_relaxed);
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
    if (!waits && (!taken || running.changes_rate())) running.invite_if_idle();
    return taken;
  }
  template <std::size_t P>
  void await_output() {
    engine& items = running.results();
    const auto has = [&] {
      let_in();
      return outputs.template has_result<P>(items) || running.has_all();
    };
    const auto is_full = [&] { return outputs.template waits_for_others<P>(items); };
    while (!has()) {
      if (is_full()) {
        const atomic<thread_mark> other = outputs.poppers().other_than(P);
        running.wait_for_another(
            [&] { return has() || !is_full(); }, other,
            "levada: pop: the session is full of what another output has not popped, and only this thread ever popped");
      } else {
        await_pusher([&] { return has() || is_full(); });
      }
    }
  }

  /// Says whether there is one; else nothing more comes.
  bool await_result() {
    engine& items = running.results();
    popper.store(this_thread_mark(), std::memory_order_relaxed);
    if (items.has_result() || (running.help() && items.has_result())) return true;
    held.check_free();
    for (;;) {
      await_pusher([&] {
        let_in();  // items that gave no result left room, too
        return items.has_result() || running.is_over();
      });
      if (items.has_result()) return true;
      if (running.is_over()) return false;  // else it has become overdue meanwhile
    }
  }
  /// What is not in flight comes when it is pushed; where nobody has pushed yet, or not to every port, somebody may be
  /// on the way.
  template <class Done>
  void await_pusher(const Done& done) {
    if constexpr (is_named_items<In>)
      if (ports.is_used() && ports.are_all_of_this_thread()) {
        const atomic<thread_mark> no_other{nullptr};
        return running.wait_for_another(done, no_other, only_pusher);
      }
    if (unknown_pushers || pusher.load() == nullptr)
      running.wait_until(done);
    else
      running.wait_for_another(done, pusher, only_pusher);
  }
  static constexpr const char* only_pusher = "levada: pop: nothing is in flight, and only this thread has ever pushed";

  template <class... Side>
  std::optional<popped_result<Out>> try_take(item_envelope* envelope, Side&... side) {
    pop_whole();
    popper.store(this_thread_mark(), std::memory_order_relaxed);
    std::optional<popped_result<Out>> taken;
    if (running.results().has_result()) take(taken, envelope, side...);
    if (!taken) let_in();
    if (!taken || running.changes_rate()) running.invite_if_idle();  // there is room again behind a region
    return taken;
  }

  /// What is at the head. Constructs the result where the caller wants it: a large one has no place on the stack.
  template <class... Side>
  void take(std::optional<popped_result<Out>>& taken, item_envelope* envelope, Side&... side) {
    engine& items = running.results();
    ((side = items.head_state() == item_state::value ? *static_cast<const Side*>(items.head_side(side_key_of<Side>))
                                                     : Side{}),
     ...);
    if (envelope != nullptr) *envelope = items.head_envelope();
    if (items.head_state() == item_state::failed) {
      taken.emplace(items.head_error());
      items.drop_head();
    } else if constexpr (is_large_result<Out>) {
      held.hand_out(items, taken);
    } else {
      if constexpr (writes_outside)
        taken.emplace(*static_cast<std::remove_reference_t<Out>*>(items.head_value()));
      else if constexpr (!std::is_void_v<Out>)
        taken.emplace(moved_from, *static_cast<Out*>(items.head_value()));
      items.drop_head();
    }
    held.free(items);
    let_in();
  }
  /// A thread that pushes and pops in turns has each item run by `pop`.
  bool take_single_item([[maybe_unused]] std::optional<popped_result<Out>>& taken) {
    // Only chains run so, whose items need no destruction.
    if constexpr (std::is_nothrow_move_constructible_v<Out> && std::is_trivially_destructible_v<Out> &&
                  std::is_trivially_destructible_v<In> && !writes_outside && !is_named_items<Out> &&
                  !is_large_result<Out> && !meets_by_time<In>) {
      popper.store(this_thread_mark(), std::memory_order_relaxed);
      return running.pop_single_item([&](void* value) { taken.emplace(moved_from, *static_cast<Out*>(value)); });
    } else {
      return false;
    }
  }
};

}  // namespace levada::detail
