// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_state.hpp: what a session of some item types has: its core, its ports and outputs, and who
// pushes and pops.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/deployment.hpp>
#include <levada/run/detail/session/held_results.hpp>
#include <levada/run/detail/session/port_feed.hpp>
#include <levada/run/detail/session/port_results.hpp>
#include <levada/run/detail/session/session_core.hpp>
#include <levada/run/detail/session/time_feed.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A session that is moved takes it along: it stays where it is.
template <class In, class Out, class Executor>
struct session_state {
  session_state(std::shared_ptr<deployment<Executor>> of, std::stop_token stop, const session_settings& given)
      : spare(given.drops_older() ? arena_bytes(sizeof(In), alignof(In)) : arena_bytes()),
        running(std::move(of), false, std::move(stop), given, admission_queue_of(ports)) {
    if (!given.waits_when_full()) running.invite_always();
  }

  ~session_state() {
    if constexpr (is_named_items<In>) ports.discard(running.items());
  }

  erased_object failure_listener;
  arena_bytes spare;                             ///< where an item is constructed before another gives way to it
  [[no_unique_address]] port_feed_of<In> ports;  ///< workers may be at it as long as it runs
  session_core<Executor> running;
  atomic<thread_mark> pusher{nullptr}, popper{nullptr};
  atomic<bool> unknown_pushers{false};  ///< others than the last one may push
  [[no_unique_address]] port_results<Out> outputs;
  [[no_unique_address]] held_results<Out> held;
  atomic<bool> popped_whole{false};
  atomic<completion*> dropped{nullptr};

  /// Items that gave way to newer ones, for who tells of them.
  void leave_dropped(completion& of) {
    of.next = dropped.load();
    while (!dropped.compare_exchange_weak(of.next, &of)) {
    }
  }

  /// Works and waits until all that was pushed is finished, or can go no further.
  void drain() {
    running.wait_until([&] { return running.all_settled(); });
  }

  /// There is room for items that wait before the pipeline.
  void let_in() {
    if constexpr (meets_by_time<In>) {
      ports.meet(running.items());
      close_behind_last();
    }
  }
  /// Nothing waits before it any more, and nothing more comes.
  void close_behind_last() {
    if constexpr (is_named_items<In>)
      if (ports.is_over(running.items())) running.close();
  }

  /// An item of which only some ports have given their parts is in flight, and dropped when the session is closed.
  item_counts counts() const {
    item_counts all = running.items().counts();
    if constexpr (is_named_items<In>) {
      const std::uint64_t incomplete = ports.incomplete(running.items());
      all.pushed += incomplete;
      if (running.is_cancelled()) {
        all.cancelled += incomplete;
      } else {
        const std::uint64_t alone = running.is_closed() ? incomplete : std::min(incomplete, ports.partnerless());
        all.dropped += alone, all.drops.partnerless += alone, all.in_flight += incomplete - alone;
      }
    }
    return all;
  }
};

}  // namespace levada::detail
