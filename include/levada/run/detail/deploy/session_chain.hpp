// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/session_chain.hpp: the sessions of pipelines that replace each other, as one: run/hot_swap.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/core/error.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/deploy/swap_point.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/session/any_session.hpp>
#include <levada/run/detail/session/push_result.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// A session of one pipeline after the other: the newest, and those before it until all their results are popped. Where
/// a thread other than the pushing one pops, at most two are open. One thread that does both opens one behind each swap
/// at once: nobody else could bring it to an end that it waits for.
template <class Signature>
class session_chain {
  using in = typename any_pipeline<Signature>::item;
  using out = typename any_pipeline<Signature>::output;
  using popped = std::optional<popped_result<out>>;
  using time_point = typename any_session<in, out>::time_point;

 public:
  /// How the sessions are opened.
  struct opener {
    any_session<in, out> (*open)(const any_pipeline<Signature>&);
    bool waits_when_full;
  };

  session_chain(std::shared_ptr<swap_point<Signature>> point, opener how) : point_(std::move(point)), how_(how) {
    auto [pipeline, swaps] = point_->current();
    newest_ = std::make_shared<link>(how_.open(pipeline), swaps, 0);
    links_.push_back(newest_);
  }

  // ---- by the pusher ----

  push_result push(given_item<in> item, time_point captured) {
    pusher_.store(std::this_thread::get_id());
    for (;;) {
      if (is_behind()) {
        if (how_.waits_when_full) wait_for_the_oldest();
        if (may_follow() && !follow()) throw cancelled("levada: push: the session is closed or cancelled");
      }
      any_session<in, out>& to = newest_->session;
      try {
        return item.give_to([&]<class Given>(Given&& given) { return to.push(std::forward<Given>(given), captured); });
      } catch (const cancelled&) {
        throw;
      } catch (const error&) {
        // It knows of no other thread that pops, which may still be at the session before it.
        if (!another(popper_)) throw;
      }
      if (give_at_once(item, captured)) return push_outcome::taken;
    }
  }

  push_result try_push(given_item<in> item, time_point captured) {
    pusher_.store(std::this_thread::get_id());
    if (is_behind() && (may_follow() ? !follow() : how_.waits_when_full)) return push_outcome::refused;
    return give_at_once(item, captured);
  }

  std::size_t credits() {
    if (is_behind() && how_.waits_when_full && !may_follow()) return 0;
    return newest_->session.credits();
  }
  void reset() {
    drain();
    newest_->session.reset();
  }
  void on_error(owner<failure_listener> listener) {
    auto shared = std::make_shared<owner<failure_listener>>(std::move(listener));
    listen(*newest_, shared);
    listener_ = std::move(shared);
  }

  // ---- by the popper ----

  popped pop(item_envelope& envelope) {
    popper_.store(std::this_thread::get_id());
    for (;;) {
      popped taken = pop_here(envelope);
      if (taken || !go_on()) return taken;
    }
  }

  popped try_pop(item_envelope& envelope) {
    popper_.store(std::this_thread::get_id());
    for (;;) {
      popped taken = here().session.try_pop(envelope);
      if (taken) popped_one(envelope);
      if (taken || !here().session.is_over() || !go_on()) return taken;
    }
  }

  // ---- by anybody ----

  void close() {
    const std::shared_ptr<link> last = end();
    last->session.close();
    turn();
  }
  void cancel() {
    end();
    for_each_link([](link& l) { l.session.cancel(); });
    turn();
  }
  void drain() {
    for_each_link([](link& l) { l.session.drain(); });
  }
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return closed_ && std::all_of(links_.begin(), links_.end(), [](const auto& l) { return l->session.is_over(); });
  }
  item_counts counts() const {
    const std::lock_guard lock(mutex_);
    item_counts sum = retired_;
    for (const std::shared_ptr<link>& l : links_) sum += l->session.counts();
    return sum;
  }
  /// Said before others push; they push one at a time.
  void allow_multiple_producers() {
    unknown_pushers_.store(true);
    for_each_link([](link& l) { l.session.allow_multiple_producers(); });
  }
  void measure(bool on) {
    keep(measures_, on, [=](link& l) { l.session.measure(on); });
  }
  session_statistics statistics() const { return newest()->session.statistics(); }
  void trace(std::size_t events) {
    keep(traces_, events, [=](link& l) { l.session.trace(events); });
  }
  session_trace traced() const { return newest()->session.traced(); }
  time_point now() const { return newest()->session.now(); }
  std::optional<time_point> due() const {
    std::optional<time_point> first;
    for_each_link([&](link& l) {
      if (const std::optional<time_point> at = l.session.due(); at && (!first || *at < *first)) first = at;
    });
    return first;
  }

 private:
  struct link {
    link(any_session<in, out> of, std::uint64_t at, std::uint64_t pushed)
        : session(std::move(of)), swaps(at), first(pushed) {}
    any_session<in, out> session;
    const std::uint64_t swaps;
    const std::uint64_t first;  ///< how many items were pushed before its first
  };

  static bool another(const atomic<std::thread::id>& thread) {
    const std::thread::id last = thread.load();
    return last != std::thread::id() && last != std::this_thread::get_id();
  }

  std::shared_ptr<link> oldest() const {
    const std::lock_guard lock(mutex_);
    return links_.front();
  }
  std::shared_ptr<link> newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }
  /// From the oldest on, each without the lock; those that are opened meanwhile as well.
  template <class F>
  void for_each_link(F f) const {
    for (std::uint64_t from = 0;;) {
      std::shared_ptr<link> next;
      {
        const std::lock_guard lock(mutex_);
        const auto at = std::find_if(links_.begin(), links_.end(), [&](const auto& l) { return l->swaps >= from; });
        if (at == links_.end()) return;
        next = *at;
      }
      f(*next);
      from = next->swaps + 1;
    }
  }
  /// No session is opened any more; returns the last one.
  std::shared_ptr<link> end() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    return newest_;
  }
  bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  /// What a pusher waits for may have come.
  void turn() {
    turns_.fetch_add(1);
    turns_.notify_all();
  }

  // Only the pusher changes newest_, so it reads it without the lock.

  bool is_behind() const { return newest_->swaps != point_->swaps(); }

  push_result give_at_once(given_item<in> item, time_point captured) {
    any_session<in, out>& to = newest_->session;
    return item.give_to([&]<class Given>(Given&& given) { return to.try_push(std::forward<Given>(given), captured); });
  }

  static void listen(link& to, std::shared_ptr<owner<failure_listener>> listener) {
    to.session.on_error([heard = std::move(listener), first = to.first](std::uint64_t sequence,
                                                                        const std::exception_ptr& why) noexcept {
      (*heard)->failed(first + sequence, why);
    });
  }

  /// Only the newest session is left; those before it go where they are over.
  bool has_one() {
    for (std::shared_ptr<link> first = oldest(); first != newest_; first = oldest()) {
      if (!first->session.is_over()) return false;
      behind(first);
    }
    return true;
  }
  /// Another session may be opened: there is only one, or a push would wait, and no other thread pops what it waits
  /// for.
  bool may_follow() { return has_one() || (how_.waits_when_full && !another(popper_)); }

  /// Opens a session of the current pipeline and ends the one before it. False: the chain was closed.
  bool follow() {
    auto [pipeline, swaps] = point_->current();
    auto next = std::make_shared<link>(how_.open(pipeline), swaps, newest_->first + newest_->session.counts().pushed);
    if (listener_) listen(*next, listener_);
    if (unknown_pushers_.load()) next->session.allow_multiple_producers();
    measure_as_said(next->session);  // may throw: it is nobody's yet
    std::shared_ptr<link> before;
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      links_.push_back(next);
      before = std::exchange(newest_, std::move(next));
    }
    before->session.close();  // only now: who finds it over finds the next one
    has_one();
    measure_as_said(newest_->session);  // said meanwhile
    return true;
  }
  /// Tells all sessions, and those that are opened later; where one has no memory for it, those as before.
  template <class T, class Tell>
  void keep(atomic<T>& said, T now, Tell tell) {
    const T before = said.exchange(now);
    try {
      for_each_link(tell);
    } catch (...) {
      said.store(before);
      throw;
    }
  }
  void measure_as_said(any_session<in, out>& of) const {
    if (measures_.load()) of.measure();
    if (const std::size_t events = traces_.load(); events != 0) of.trace(events);
  }

  /// Works and waits while another thread pops, until only the newest session is left.
  void wait_for_the_oldest() {
    waits_.store(true);
    struct no_more {
      atomic<bool>& waits;
      ~no_more() { waits.store(false); }
    } const at_end{waits_};
    for (;;) {
      const std::uint32_t seen = turns_.load();
      if (may_follow() || is_closed()) return;
      drain();
      if (has_one()) return;
      turns_.wait(seen);
    }
  }

  /// The session that results are popped from. Only the popper changes popping_.
  link& here() {
    if (!popping_) popping_ = oldest();
    return *popping_;
  }
  popped pop_here(item_envelope& envelope) {
    for (;;) {
      try {
        popped taken = here().session.pop(envelope);
        popped_one(envelope);
        return taken;
      } catch (const error&) {
        // The session knows of no other thread that pushes, which may not have come to it yet.
        if (!another(pusher_)) throw;
      }
    }
  }
  void popped_one(item_envelope& envelope) {
    envelope.sequence += here().first;
    if (waits_.load()) turn();
  }
  /// From a session that is over to the next. False: it was the last.
  bool go_on() {
    std::shared_ptr<link> next = behind(popping_);
    if (!next) return false;
    popping_ = std::move(next);
    return true;
  }

  /// The oldest session behind one that is over, which leaves the chain; null where that is the newest.
  std::shared_ptr<link> behind(const std::shared_ptr<link>& over) {
    std::shared_ptr<link> next;
    {
      const std::lock_guard lock(mutex_);
      if (over == newest_) return nullptr;
      if (over == links_.front()) {
        retired_ += over->session.counts();
        links_.erase(links_.begin());
      }
      next = links_.front();
    }
    turn();
    return next;
  }

  const std::shared_ptr<swap_point<Signature>> point_;
  const opener how_;
  std::shared_ptr<owner<failure_listener>> listener_;  ///< the pusher's
  atomic<bool> unknown_pushers_{false};
  atomic<bool> measures_{false};
  atomic<std::size_t> traces_{0};
  mutable std::mutex mutex_;                  ///< of the next four
  std::vector<std::shared_ptr<link>> links_;  ///< from the oldest to the newest
  std::shared_ptr<link> newest_;
  item_counts retired_;
  bool closed_ = false;
  std::shared_ptr<link> popping_;
  atomic<std::uint32_t> turns_{0};
  atomic<bool> waits_{false};
  atomic<std::thread::id> pusher_{}, popper_{};
};

}  // namespace levada::detail
