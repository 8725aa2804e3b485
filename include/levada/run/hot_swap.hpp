// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/hot_swap.hpp: a pipeline that is replaced while items stream through it. What was pushed before a swap finishes on the
// old pipeline, what is pushed after it goes to the new one, and results come out in input order.

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/core/log.hpp>
#include <levada/core/result.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/any_session.hpp>
#include <levada/run/item_counts.hpp>

namespace levada {
namespace detail {

/// The pipeline that is current, and how many were before it.
template <class Signature>
class swap_point {
 public:
  explicit swap_point(any_pipeline<Signature> first) : pipeline_(std::move(first)) {}

  std::uint64_t swaps() const { return swaps_.load(); }
  std::pair<any_pipeline<Signature>, std::uint64_t> current() const {
    const std::lock_guard lock(mutex_);
    return {pipeline_, swaps_.load()};
  }
  void swap(any_pipeline<Signature> next) {
    std::uint64_t swaps;
    {
      const std::lock_guard lock(mutex_);
      std::swap(pipeline_, next);  // the old one ends with the argument, unlocked
      swaps = swaps_.fetch_add(1) + 1;
    }
    if (is_logged()) log(log_level::info, "hot_swap: swapped for the " + std::to_string(swaps) + ". time");
  }

 private:
  mutable std::mutex mutex_;
  any_pipeline<Signature> pipeline_;
  std::atomic<std::uint64_t> swaps_{0};
};

/// A session of one pipeline after the other. At most two are open: the newest, and the one before it until all its results
/// are popped.
template <class Signature>
class session_chain {
  using in = typename any_pipeline<Signature>::item;
  using out = typename any_pipeline<Signature>::output;
  using popped = std::optional<result<out>>;

 public:
  explicit session_chain(std::shared_ptr<swap_point<Signature>> point) : point_(std::move(point)) {
    auto [pipeline, swaps] = point_->current();
    oldest_ = newest_ = std::make_shared<link>(pipeline.open(), swaps);
  }

  // ---- by the pusher ----

  void push(given_item<in> item) {
    pusher_.store(std::this_thread::get_id());
    for (;;) {
      if (is_behind()) {
        wait_for_the_oldest();
        if (!follow()) throw cancelled("levada: push: the session is closed or cancelled");
      }
      any_session<in, out>& to = newest_->session;
      try {
        return item.give_to([&]<class Given>(Given&& given) { to.push(std::forward<Given>(given)); });
      } catch (const cancelled&) {
        throw;
      } catch (const error&) {
        // It knows of no other thread that pops, which may still be at the session before it.
        if (!another(popper_)) throw;
      }
      if (give_at_once(item)) return;
    }
  }

  bool try_push(given_item<in> item) {
    pusher_.store(std::this_thread::get_id());
    if (is_behind() && (!has_one() || !follow())) return false;
    return give_at_once(item);
  }

  // ---- by the popper ----

  popped pop() {
    popper_.store(std::this_thread::get_id());
    for (;;) {
      popped taken = pop_here();
      if (taken || !go_on()) return taken;
    }
  }

  popped try_pop() {
    popper_.store(std::this_thread::get_id());
    for (;;) {
      popped taken = here().try_pop();
      if (taken) tell_pusher();
      if (taken || !here().is_over() || !go_on()) return taken;
    }
  }

  // ---- by anybody ----

  void close() {
    const std::shared_ptr<link> last = end();
    last->session.close();
    turn();
  }
  void cancel() {
    const std::shared_ptr<link> last = end();
    links().first->session.cancel();
    last->session.cancel();
    turn();
  }
  void drain() {
    const auto [first, last] = links();
    first->session.drain();
    if (last != first) last->session.drain();
  }
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return closed_ && newest_->session.is_over() && (oldest_ == newest_ || oldest_->session.is_over());
  }
  item_counts counts() const {
    const std::lock_guard lock(mutex_);
    item_counts sum = retired_;
    add(sum, oldest_->session.counts());
    if (newest_ != oldest_) add(sum, newest_->session.counts());
    return sum;
  }

 private:
  struct link {
    link(any_session<in, out> of, std::uint64_t at) : session(std::move(of)), swaps(at) {}
    any_session<in, out> session;
    const std::uint64_t swaps;
  };

  static void add(item_counts& sum, const item_counts& c) {
    sum.pushed += c.pushed, sum.delivered += c.delivered, sum.failed += c.failed, sum.filtered += c.filtered;
    sum.dropped += c.dropped, sum.cancelled += c.cancelled, sum.in_flight += c.in_flight;
  }
  static bool another(const std::atomic<std::thread::id>& thread) {
    const std::thread::id last = thread.load();
    return last != std::thread::id() && last != std::this_thread::get_id();
  }

  std::pair<std::shared_ptr<link>, std::shared_ptr<link>> links() const {
    const std::lock_guard lock(mutex_);
    return {oldest_, newest_};
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

  bool give_at_once(given_item<in> item) {
    any_session<in, out>& to = newest_->session;
    return item.give_to([&]<class Given>(Given&& given) { return to.try_push(std::forward<Given>(given)); });
  }

  /// Only the newest session is left; the one before it goes where it is over.
  bool has_one() {
    const auto [first, last] = links();
    if (first == last) return true;
    if (!first->session.is_over()) return false;
    behind(first);
    return true;
  }

  /// Opens a session of the current pipeline and ends the one before it. False: the chain was closed.
  bool follow() {
    auto [pipeline, swaps] = point_->current();
    auto next = std::make_shared<link>(pipeline.open(), swaps);
    std::shared_ptr<link> before;
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      before = std::exchange(newest_, std::move(next));
    }
    before->session.close();  // only now: who finds it over finds the next one
    if (before->session.is_over()) behind(before);
    return true;
  }

  /// Works and waits until only the newest session is left. Throws levada::error where only this thread has ever popped.
  void wait_for_the_oldest() {
    waits_.store(true);
    struct no_more {
      std::atomic<bool>& waits;
      ~no_more() { waits.store(false); }
    } const at_end{waits_};
    for (int looks = 0;;) {
      const std::uint32_t seen = turns_.load();
      if (has_one() || is_closed()) return;
      links().first->session.drain();
      if (has_one()) return;
      if (another(popper_)) {
        turns_.wait(seen);
        looks = 0;
        continue;
      }
      if (++looks > 10'000)  // two seconds, or longer where the whole program was held up
        throw error("levada: push: results from before a swap wait, and only this thread has ever popped any");
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  /// The session that results are popped from. Only the popper changes popping_.
  any_session<in, out>& here() {
    if (!popping_) popping_ = links().first;
    return popping_->session;
  }
  popped pop_here() {
    for (;;) {
      try {
        popped taken = here().pop();
        tell_pusher();
        return taken;
      } catch (const error&) {
        // The session knows of no other thread that pushes, which may not have come to it yet.
        if (!another(pusher_)) throw;
      }
    }
  }
  void tell_pusher() {
    if (waits_.load()) turn();
  }
  /// From a session that is over to the next. False: it was the last.
  bool go_on() {
    std::shared_ptr<link> next = behind(popping_);
    if (!next) return false;
    popping_ = std::move(next);
    return true;
  }

  /// The oldest session behind one that is over and leaves the chain; null where that is the newest.
  std::shared_ptr<link> behind(const std::shared_ptr<link>& over) {
    std::shared_ptr<link> next;
    {
      const std::lock_guard lock(mutex_);
      if (over == newest_) return nullptr;
      if (over == oldest_) {
        add(retired_, over->session.counts());
        oldest_ = newest_;
      }
      next = oldest_;
    }
    turn();
    return next;
  }

  const std::shared_ptr<swap_point<Signature>> point_;
  mutable std::mutex mutex_;  ///< of the next four
  std::shared_ptr<link> oldest_, newest_;
  item_counts retired_;
  bool closed_ = false;
  std::shared_ptr<link> popping_;
  std::atomic<std::uint32_t> turns_{0};
  std::atomic<bool> waits_{false};
  std::atomic<std::thread::id> pusher_{}, popper_{};
};

}  // namespace detail

template <class Signature>
class hot_swap;

/// One running instance of whatever pipeline is current. Like a session: one thread pushes and one pops at a time; they may be
/// the same. It opens a session of the new pipeline at the first push behind a swap; the old pipeline lives until all that
/// was pushed into it is popped. Stage state does not go over. A push waits, as into a full pipeline, where there was another
/// swap before that.
template <class Signature>
class hot_session {
 public:
  using item = typename any_pipeline<Signature>::item;
  using output = typename any_pipeline<Signature>::output;

  explicit hot_session(std::shared_ptr<detail::swap_point<Signature>> point)
      : chain_(std::make_unique<detail::session_chain<Signature>>(std::move(point))) {}

  /// Throws levada::error when the session is closed or cancelled, or full of results that only the calling thread could pop.
  void push(item&& given) { chain_->push(std::move(given)); }
  void push(const item& given)
    requires std::copy_constructible<item>
  {
    chain_->push(given);
  }
  /// Gives an item if there is room, and says whether.
  bool try_push(item&& given) { return chain_->try_push(std::move(given)); }
  bool try_push(const item& given)
    requires std::copy_constructible<item>
  {
    return chain_->try_push(given);
  }
  /// The next result in input order, across swaps. Empty when the session is closed or cancelled and nothing more comes.
  std::optional<result<output>> pop() { return chain_->pop(); }
  /// The next result if it is there.
  std::optional<result<output>> try_pop() { return chain_->try_pop(); }
  void close() { chain_->close(); }
  void drain() { chain_->drain(); }
  void cancel() { chain_->cancel(); }
  bool is_over() const { return chain_->is_over(); }
  /// Of all pipelines since it was opened.
  item_counts counts() const { return chain_->counts(); }

 private:
  std::unique_ptr<detail::session_chain<Signature>> chain_;
};

/// A current pipeline, and sessions that follow it. Thread-safe; copies share the pipeline.
template <class Result, class In>
class hot_swap<Result(In)> {
 public:
  using pipeline = any_pipeline<Result(In)>;
  using item = In;
  using output = typename pipeline::output;

  explicit hot_swap(pipeline first) : point_(std::make_shared<detail::swap_point<Result(In)>>(std::move(first))) {}

  /// From now on `next` takes what is pushed.
  void swap(pipeline next) { point_->swap(std::move(next)); }
  pipeline current() const { return point_->current().first; }

  /// One item on the calling thread, by the pipeline that is current when it is called.
  Result operator()(In&& given) const { return current()(std::move(given)); }
  Result operator()(const In& given) const
    requires std::copy_constructible<In>
  {
    return current()(given);
  }

  /// A session: push and pop.
  hot_session<Result(In)> open() const { return hot_session<Result(In)>(point_); }

 private:
  std::shared_ptr<detail::swap_point<Result(In)>> point_;
};

}  // namespace levada
