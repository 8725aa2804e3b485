// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/event_count.hpp: where threads park until something may have changed. Telling nobody costs one
// load.

#include <atomic>
#include <cstdint>

#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// An event count: `prepare`, look again, then `wait` or `cancel`. A change of the state that waiters look at is made
/// with sequentially consistent stores, and `notify_all` is called behind them; a waiter then sees the change or is
/// woken. A thread that knows that nobody can wait does neither: `engine::publish_to_nobody`.
template <class = void>
class basic_event_count {
 public:
  std::uint32_t prepare() {
    waiters_.fetch_add(1);
    return epoch_.load();
  }
  void cancel() { waiters_.fetch_sub(1); }
  void wait(std::uint32_t epoch) {
    epoch_.wait(epoch);
    waiters_.fetch_sub(1);
  }
  bool has_waiters() const { return waiters_.load() != 0; }
  /// Where somebody waits here, `also` is notified, too: for who waits for several at once, at `also`, and is announced
  /// at each by `prepare`. It outlives this one.
  void forward_to(basic_event_count& also) { also_.store(&also); }
  [[gnu::always_inline]] void notify_all() {
    if (has_waiters()) [[unlikely]]
      wake_all();
  }

 private:
  [[gnu::noinline]] void wake_all() {
    epoch_.fetch_add(1);
    epoch_.notify_all();
    if (basic_event_count* const also = also_.load()) also->notify_all();
  }

  alignas(64) atomic<std::uint32_t> epoch_{0};
  atomic<std::uint32_t> waiters_{0};
  atomic<basic_event_count*> also_{nullptr};
};
using event_count = basic_event_count<>;

/// A sequentially consistent fence right behind a locked operation of this thread, which is one already where that is
/// a locked instruction.
inline void fence_behind_locked() {
#if defined(__x86_64__) || defined(__i386__)
  asm volatile("" ::: "memory");
#else
  full_fence();
#endif
}

}  // namespace levada::detail
