// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/dispatcher.hpp: one thread that hands out the results of many sessions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/thread_mark.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {
namespace detail {

template <class Session>
class result_dispatcher;

/// A session whose results a thread hands out.
class served_session {
 public:
  /// There is something for `serve` to do.
  virtual bool is_ready() noexcept = 0;
  /// Hands out one result, if there is one. Says whether the session has ended, and is to be served no more.
  virtual bool serve() noexcept = 0;
  /// Where changes are told; null while only `dispatcher::look_again` tells of them.
  virtual event_count* told_at() noexcept = 0;
  /// Some changes are not told there.
  virtual bool changes_silently() const noexcept = 0;

 protected:
  ~served_session() = default;
};

}  // namespace detail

/// A thread that hands out the results of any number of sessions, one result of each in turn:
/// `dispatcher results; callback_session a(app.open(), f, results); async_session b(other.open(), results)`. It runs
/// none of their stages: workers do. A session without one has a thread of its own, which works while it waits. The
/// dispatcher outlives its sessions.
class dispatcher {
 public:
  dispatcher() : thread_(detail::start_thread("the results of sessions", [this]() noexcept { run(); })) {}
  ~dispatcher() {
    is_over_.store(true);
    look_again();
    thread_.join();
  }
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;

 private:
  template <class Session>
  friend class detail::result_dispatcher;

  void add(detail::served_session& session) {
    {
      const std::lock_guard lock(mutex_);
      watched_.reserve(served_.size() + 1);
      served_.push_back(&session);
    }
    look_again();
  }
  /// Something has changed of which a session does not tell.
  void look_again() { event_.notify_all(); }
  detail::event_count& event() { return event_; }
  /// Of its thread, once it runs.
  detail::thread_mark mark() const {
    mark_.wait(nullptr);
    return mark_.load();
  }

  /// Returns when `session`, which is about to end, is served no more. By another thread than its own.
  void await_end(detail::served_session& session) {
    look_again();
    for (;;) {
      const std::uint32_t seen = ends_.load();
      if (!serves(session)) return;
      ends_.wait(seen);
    }
  }
  bool serves(const detail::served_session& session) {
    const std::lock_guard lock(mutex_);
    return std::find(served_.begin(), served_.end(), &session) != served_.end();
  }
  /// By its own thread, which has served that session to its end.
  void leave(const detail::served_session& session) {
    const std::lock_guard lock(mutex_);
    std::erase(served_, &session);
  }

  void run() noexcept {
    mark_.store(detail::this_thread_mark());
    mark_.notify_all();
    std::unique_lock lock(mutex_);
    while (!is_over_.load())
      if (!serve_all(lock)) park(lock);
  }
  /// Unlocked while it serves: what is handed out may begin and end other sessions.
  bool serve_all(std::unique_lock<detail::mutex>& lock) noexcept {
    bool any = false;
    for (std::size_t i = 0; i < served_.size(); ++i) {
      detail::served_session& session = *served_[i];
      if (!session.is_ready()) continue;
      any = true;
      lock.unlock();
      const bool has_ended = session.serve();
      lock.lock();
      if (!has_ended) continue;
      std::erase(served_, &session);
      ends_.fetch_add(1);
      ends_.notify_all();
    }
    return any;
  }

  /// Until one of the sessions tells of a change, unless one is ready.
  void park(std::unique_lock<detail::mutex>& lock) noexcept {
    const std::uint32_t epoch = event_.prepare();
    for (detail::served_session* session : served_)
      if (detail::event_count* at = session->told_at()) {
        at->prepare();
        watched_.push_back(at);
      }
    bool stays = !is_over_.load(), looks_soon = false;
    for (detail::served_session* session : served_) {
      stays = stays && !session->is_ready();
      looks_soon = looks_soon || session->changes_silently();
    }
    lock.unlock();  // sessions come meanwhile, and none goes: only this thread ends them
    if (stays && !looks_soon) {
      event_.wait(epoch);
    } else {
      event_.cancel();
      if (stays) detail::sleep_thread(std::chrono::microseconds(100));
    }
    lock.lock();
    for (detail::event_count* at : watched_) at->cancel();
    watched_.clear();
  }

  detail::event_count event_;
  detail::atomic<bool> is_over_{false};
  detail::atomic<detail::thread_mark> mark_{nullptr};
  detail::atomic<std::uint32_t> ends_{0};  ///< of sessions
  detail::mutex mutex_;                    ///< of the next one
  std::vector<detail::served_session*> served_;
  std::vector<detail::event_count*> watched_;  ///< the thread's
  std::thread thread_;                         ///< behind all that it looks at
};

}  // namespace levada
