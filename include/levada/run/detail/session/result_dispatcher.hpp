// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/result_dispatcher.hpp: a session and the thread that hands out its results, the mechanism below
// callbacks, awaited items and event descriptors: a thread of its own, or that of a dispatcher. Its own works on the
// items while it waits (not in a `dedicated` session), and sleeps where there is nothing to do.

#include <exception>
#include <type_traits>
#include <utility>

#include <levada/core/detail/result.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/dispatcher.hpp>
#include <levada/run/detail/session/session.hpp>
#include <levada/run/detail/session/session_calls.hpp>
#include <levada/run/detail/workers/completion.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Why its results are popped, and cannot be handed out.
template <class Session>
struct why_popped
    : std::type_identity<results_are_handed_out_by_a_session_of_an_app_and_popped_from_any_other<Session>> {};
template <class In, class Out, class Executor>
struct why_popped<session<In, Out, Executor>> : std::type_identity<no_mistake> {};
template <class In, class Out, class Executor>
struct why_popped<session<In, Out&, Executor>>
    : std::type_identity<results_of_a_session_with_external_results_are_popped_not_handed_out<In, Out>> {};

template <class Session>
concept only_popped = why_popped<Session>::type::is_mistake;
/// What is deduced then in its place. Never defined.
template <class Session>
using popped_instead = mistake_found<typename why_popped<Session>::type>;

/// The derived class says which results are ready, and serves them.
template <class Session>
class result_dispatcher : public served_session {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;

  Session& session() { return session_; }
  const Session& session() const { return session_; }
  engine& items() { return session_.core_->running.items(); }
  auto& running() { return session_.core_->running; }

  /// Asked by the thread that hands out the results.
  bool is_handing_out() const { return session_.core_->popper.load() == this_thread_mark(); }

  /// Of what was pushed nothing is left; items that wait for admission are not pushed yet.
  bool has_handed_out_all() {
    return !has_dropped() && !completes_dropped_.load() &&
           running().holds_before_admission([&] { return items().all_popped(); });
  }

 protected:
  explicit result_dispatcher(Session of) : session_(std::move(of)) {
    make_missing_reasons();
    if (session_.core_->running.changes_rate())
      throw error("levada: a pipeline that changes its rate has no result for each item: pop them");
    session_.core_->unknown_pushers = true;
  }
  /// `end` has been called.
  ~result_dispatcher() = default;

  /// Has `self`, which is this one, served from now on: by a thread of its own, or by that dispatcher.
  template <class Self>
  void start(Self& self, dispatcher* by) {
    if (by != nullptr) {
      by_ = by;
      items().invite_always();
      running().event().forward_to(by->event());
      session_.core_->popper.store(by->mark());
      return by->add(self);
    }
    session_.core_->popper.store(&thread_);  // another than any that pushes, until it says itself who it is
    thread_ = start_thread<thread>("the results of a session", [this, &self]() noexcept {
      thread_mark unnamed = &thread_;
      session_.core_->popper.compare_exchange_strong(unnamed, this_thread_mark());
      self.serve_alone();
    });
  }
  /// The thread of its own: works while it waits.
  void serve_alone() noexcept { serve_to_the_end(); }
  /// Gives up items that are not finished; returns when the rest is handed out.
  void end() {
    ending_.store(true);
    session_.cancel();
    if (by_ == nullptr) {
      if (thread_.joinable()) thread_.join();
    } else if (by_->mark() == this_thread_mark()) {  // by what is handed out of another session
      serve_to_the_end();
      by_->leave(*this);
    } else {
      by_->await_end(*this);
    }
  }
  /// Nothing more comes, and nobody will push.
  bool is_ending() { return ending_.load() && running().is_over() && !has_dropped(); }
  /// Something has changed of which the session does not tell.
  void look_again() {
    if (by_ != nullptr) by_->look_again();
  }

  event_count* told_at() noexcept override { return &running().event(); }
  bool changes_silently() const noexcept override { return session_.core_->running.is_silent(); }

  bool has_dropped() const { return session_.core_->dropped.load() != nullptr; }

  /// Passes the result at the head, if there is one, to `take`, and frees its slot.
  template <class Take>
  void take_head(Take take) {
    engine& e = items();
    if (!e.has_result()) return;
    take(e);
    e.drop_head();
    e.free_kept();
  }

  /// An item that is pushed for a completion, where there is room.
  template <class Make>
  bool try_push_for(completion* observer, Make make, time_point captured) {
    return session_.core_->try_emplace_for(observer, make, captured);
  }
  /// Tells the completion of the item at the head what became of it; `between` is called when its slot is free.
  template <class Between>
  void complete_head(Between between) {
    completion* observer = nullptr;
    take_head([&](engine& e) {
      observer = e.head_completion();
      if (observer != nullptr) tell(e, *observer);
    });
    between();
    if (observer != nullptr) observer->done();
    if (has_dropped()) complete_dropped();
  }

 private:
  void serve_to_the_end() noexcept {
    do running().wait_until([this] { return this->is_ready(); });
    while (!this->serve());
  }

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
  dispatcher* by_ = nullptr;
  thread thread_;
};

}  // namespace levada::detail
