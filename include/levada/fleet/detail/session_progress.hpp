// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/session_progress.hpp: how far a session with a name is: what who pushes and pops tells its lanes, and
// they tell it. Its lanes are opened on the thread that opens the session, and find it there: run/ knows of no names.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// Items have the numbers that their source has for them, from 0 on.
class session_progress {
 public:
  using clock = std::chrono::steady_clock;

  /// `from`: the number of the first item, where the caller knows it.
  session_progress(std::string name, std::optional<std::uint64_t> from) : name_(std::move(name)), from_(from) {}

  const std::string& name() const { return name_; }
  std::optional<std::uint64_t> from() const { return from_; }

  /// A lane is opened, whose servers know that all outcomes before `done` are, and need the items from `needed` on.
  void join(std::uint64_t done, std::uint64_t needed) {
    const std::lock_guard lock(mutex_);
    begun_ = lanes_++ == 0 ? done : std::min(begun_, done);
    needed_ = std::min(needed_, needed);
  }
  /// All lanes are open, so many.
  std::size_t begin() {
    const std::lock_guard lock(mutex_);
    done_ = begun_ = from_.value_or(begun_);
    first_ = std::min(needed_, begun_);
    return lanes_;
  }
  /// Outcomes before this were done when the session was opened.
  std::uint64_t begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  /// The number of the first item that is pushed.
  std::uint64_t first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }
  /// Outcomes before this are the caller's.
  std::uint64_t done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  void set_done(std::uint64_t before) {
    {
      const std::lock_guard lock(mutex_);
      if (before <= done_) return;
      done_ = before;
    }
    changed_.notify_all();
  }

  /// Another driver has taken the session.
  void lose(std::string why) {
    const std::lock_guard lock(mutex_);
    if (lost_.empty()) lost_ = std::move(why);
  }
  bool is_lost() const {
    const std::lock_guard lock(mutex_);
    return !lost_.empty();
  }
  /// Throws remote_error then.
  void check() const {
    const std::lock_guard lock(mutex_);
    if (!lost_.empty()) throw remote_error(lost_);
  }

  /// For a thread that waits until more than `known` is done, or until `ends()`, which who changes it tells by `wake`.
  template <class Ends>
  std::uint64_t wait_for_more(std::uint64_t known, Ends ends) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ > known || ends(); });
    return done_;
  }
  template <class Ends>
  void wait_for(std::chrono::nanoseconds time, Ends ends) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, ends);
  }
  template <class Change>
  void wake(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

 private:
  const std::string name_;
  const std::optional<std::uint64_t> from_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t first_ = 0, begun_ = 0, done_ = 0, needed_ = std::numeric_limits<std::uint64_t>::max();
  std::size_t lanes_ = 0;
  std::string lost_;
};

/// Of the session that this thread opens now; null where it has no name.
inline thread_local std::shared_ptr<session_progress> opened_with_name;

}  // namespace levada::detail
