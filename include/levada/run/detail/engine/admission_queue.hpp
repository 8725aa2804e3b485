// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/admission_queue.hpp: where items wait before they come to an engine, as those do that meet by time.

#include <cstdint>

#include <levada/core/detail/clock.hpp>
#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Seen from those who wait at the session behind it. Who is busy at it says what waits; what was let in is published
/// before.
template <class = void>
class basic_admission_queue {
 public:
  /// Lets in what can come in now, unless another thread is at it.
  virtual void let_in(engine& to) noexcept = 0;
  /// Nothing waits, and nothing more comes.
  virtual bool is_over() const = 0;

  /// It lets in something now, or as soon as who is at it has done so.
  bool opens(const engine& to) const {
    return to.free_slots() != 0 && !to.is_cancelled() &&
           (waits_for_room_.load() || to.settings().has_come(due_.load()));
  }
  bool can_let_in(const engine& to) const { return !is_busy() && opens(to); }
  /// A thread is at it.
  bool is_busy() const { return busy_.load(); }
  /// When it lets in the next, whatever comes, in nanoseconds of the session's clock; never where nothing waits for
  /// that alone.
  std::int64_t due(const engine& to) const { return to.free_slots() != 0 ? due_.load() : session_settings::never; }

 protected:
  basic_admission_queue() = default;
  ~basic_admission_queue() = default;

  atomic<bool> busy_{false};

  /// By who is busy. Says whether that is news.
  bool note(std::int64_t due, bool waits_for_room) {
    const bool is_news = due_.load() != due || waits_for_room_.load() != waits_for_room;
    due_.store(due);
    waits_for_room_.store(waits_for_room);
    return is_news;
  }

 private:
  atomic<std::int64_t> due_{session_settings::never};
  atomic<bool> waits_for_room_{false};
};
using admission_queue = basic_admission_queue<>;

}  // namespace levada::detail
