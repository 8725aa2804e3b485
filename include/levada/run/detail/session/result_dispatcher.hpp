// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/result_dispatcher.hpp: a session and the one thread that hands out its results, the mechanism
// below callbacks, futures, awaitables and event descriptors. The thread works on the items while it waits (not in a
// `dedicated` session), and sleeps where there is nothing to do.

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

#include <levada/core/detail/result.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/session.hpp>
#include <levada/run/detail/session/session_calls.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Its results are popped, and cannot be handed out: it is no session of an app.
template <class Session>
inline constexpr bool only_popped = true;
template <class In, class Out, class Executor>
inline constexpr bool only_popped<session<In, Out, Executor>> = false;
/// What is deduced then in its place. Never defined.
template <class Session>
using popped_instead = mistake_found<results_are_handed_out_by_a_session_of_an_app_and_popped_from_any_other<Session>>;

template <class Session>
class result_dispatcher {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;
  static_assert(!Session::writes_outside,
                "its results are handed out where they are: a session with external_results is popped");

  explicit result_dispatcher(Session of) : session_(std::move(of)) {
    make_missing_reasons();
    if (session_.core_->running.changes_rate())
      throw error("levada: a pipeline that changes its rate has no result for each item: pop them");
    session_.core_->unknown_pushers = true;
  }
  /// `end` has been called.
  ~result_dispatcher() = default;

  Session& session() { return session_; }
  const Session& session() const { return session_; }
  engine& items() { return session_.core_->running.items(); }
  auto& running() { return session_.core_->running; }
  bool waits_when_full() const { return session_.core_->running.items().settings().waits_when_full(); }

  /// Items that were pushed for a completion.
  template <class Make>
  bool push_for(completion* observer, Make make, time_point captured) {
    return session_.core_->emplace_for(observer, make, captured);
  }
  template <class Make>
  bool try_push_for(completion* observer, Make make, time_point captured) {
    return session_.core_->try_emplace_for(observer, make, captured);
  }

  /// Runs `serve` on the thread; it returns soon after `ending`.
  template <class Serve>
  void start(Serve serve) {
    session_.core_->popper.store(&thread_);  // another than any that pushes, until it says itself who it is
    thread_ = start_thread("the results of a session", [this, serve]() noexcept {
      thread_mark unnamed = &thread_;
      session_.core_->popper.compare_exchange_strong(unnamed, this_thread_mark());
      serve();
    });
  }
  /// Asked by the thread that hands out the results.
  bool is_handing_out() const { return session_.core_->popper.load() == this_thread_mark(); }
  /// Gives up what is not finished; returns when the thread has handed out the rest.
  void end() {
    ending_.store(true);
    session_.cancel();
    if (thread_.joinable()) thread_.join();
  }
  /// Nothing more comes, and nobody will push.
  bool ending() { return ending_.load() && running().is_over() && !has_dropped(); }

  /// Of what was pushed nothing is left; items that wait for admission are not pushed yet.
  bool has_handed_out_all() {
    return !has_dropped() && !completes_dropped_.load() &&
           running().holds_before_admission([&] { return items().all_popped(); });
  }

  bool has_dropped() const { return session_.core_->dropped.load() != nullptr; }

  /// Waits, and works, until something is to be handed out or `also()`. False: never again.
  template <class Also>
  bool await(Also also) {
    running().wait_until([&] { return items().has_result() || has_dropped() || also() || ending(); });
    return !ending();
  }

  /// Passes what is at the head, if anything, to `take`, and frees its slot.
  template <class Take>
  bool take_head(Take take) {
    engine& e = items();
    if (!e.has_result()) return false;
    take(e);
    e.drop_head();
    e.free_kept();
    return true;
  }

  /// Tells each completion what became of its item, for ever; `between` is called behind each.
  template <class Also, class Between>
  void complete_all(Also also, Between between) {
    while (await(also)) {
      completion* observer = nullptr;
      take_head([&](engine& e) {
        observer = e.head_completion();
        if (observer != nullptr) tell(e, *observer);
      });
      between();
      if (observer != nullptr) observer->done();
      if (has_dropped()) complete_dropped();
    }
  }

 private:
  static void tell(engine& e, completion& observer) {
    const item_state as = e.head_state();
    if (as == item_state::value)
      observer.take(std::is_void_v<output> ? static_cast<void*>(&observer) : e.head_value(), nullptr);
    else if (as == item_state::failed)
      observer.take(nullptr, e.head_error());
    else
      observer.take(nullptr, why_missing(missing_as(as)));
  }

  void complete_dropped() {
    completes_dropped_.store(true);
    for (completion* gone = session_.core_->dropped.exchange(nullptr); gone != nullptr;) {
      completion* const one = std::exchange(gone, gone->next);
      one->take(nullptr, why_missing(missing::dropped));
      one->done();
    }
    completes_dropped_.store(false);
    items().tell_waiters();  // of a drain
  }

  Session session_;
  atomic<bool> ending_{false};
  atomic<bool> completes_dropped_{false};
  std::thread thread_;
};

}  // namespace levada::detail
