// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/explored.hpp: what threads share and wait by, put in order by a scheduler (scheduler.hpp). A unit that
// includes this header first explores the schedule of levada: see run/detail/workers/threading.hpp. Outside of an
// execution everything is as in std.

#define LEVADA_ATOMICS_OF_TEST <explore/explored.hpp>
#define LEVADA_THREADS_OF_TEST <explore/explored.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include <explore/scheduler.hpp>

namespace levada::test {

/// The one that runs the calling thread.
inline scheduler* explorer() noexcept { return scheduler::active(); }

/// The operations of `Atomic` that the schedule uses, each a step.
template <class Atomic, class T>
struct stepped : Atomic {
  using Atomic::Atomic;
  using order = std::memory_order;

  ~stepped() {
    if constexpr (!is_reference)
      if (scheduler* const s = explorer()) s->forget(place());
  }

  T load(order o = order::seq_cst) const noexcept {
    scheduler* const s = explorer();
    if (s == nullptr) return Atomic::load(o);
    s->step(place(), access::read);
    if (const auto* own = s->own_store(place())) {
      T value;
      std::memcpy(static_cast<void*>(&value), own->bytes, sizeof value);
      return value;
    }
    s->reads(place());
    return Atomic::load(o);
  }
  void store(T value, order o = order::seq_cst) noexcept {
    scheduler* const s = explorer();
    if (s == nullptr) return Atomic::store(value, o);
    s->step(place());
    if (o != order::seq_cst && s->delays()) {
      late_store late{place(),
                      {},
                      [](void* at, const unsigned char* bytes) {
                        T then;
                        std::memcpy(static_cast<void*>(&then), bytes, sizeof then);
                        store_at(at, then);
                      },
                      {}};
      std::memcpy(late.bytes, static_cast<const void*>(&value), sizeof value);
      return s->store_later(late);
    }
    s->flush();
    note(*s, Atomic::exchange(value) != value);
  }
  T exchange(T value, order o = order::seq_cst) noexcept {
    return locked([&](bool& changes) {
      const T before = Atomic::exchange(value, o);
      changes = before != value;
      return before;
    });
  }
  bool compare_exchange_strong(T& expected, T value, order o = order::seq_cst) noexcept {
    return locked([&](bool& changes) { return changes = Atomic::compare_exchange_strong(expected, value, o); });
  }
  bool compare_exchange_strong(T& expected, T value, order yes, order no) noexcept {
    return locked([&](bool& changes) { return changes = Atomic::compare_exchange_strong(expected, value, yes, no); });
  }
  bool compare_exchange_weak(T& expected, T value, order o = order::seq_cst) noexcept {
    return compare_exchange_strong(expected, value, o);
  }
  bool compare_exchange_weak(T& expected, T value, order yes, order no) noexcept {
    return compare_exchange_strong(expected, value, yes, no);
  }
  template <class N>
  T fetch_add(N n, order o = order::seq_cst) noexcept {
    return locked([&](bool&) { return Atomic::fetch_add(static_cast<typename Atomic::difference_type>(n), o); });
  }
  template <class N>
  T fetch_sub(N n, order o = order::seq_cst) noexcept {
    return locked([&](bool&) { return Atomic::fetch_sub(static_cast<typename Atomic::difference_type>(n), o); });
  }
  void wait(T old, order o = order::seq_cst) const noexcept {
    scheduler* const s = explorer();
    if (s == nullptr) return Atomic::wait(old, o);
    while (load(o) == old) s->block(place());
  }
  void notify_all() noexcept {
    if (scheduler* const s = explorer())
      s->step(place()), s->wake(place());
    else
      Atomic::notify_all();
  }
  void notify_one() noexcept { notify_all(); }

 private:
  static constexpr bool is_reference = requires(Atomic& a) { a.place_of; };

  const void* place() const {
    if constexpr (is_reference)
      return this->place_of;
    else
      return this;
  }
  static void store_at(void* at, T value) {
    if constexpr (is_reference)
      std::atomic_ref<T>(*static_cast<T*>(at)).store(value);
    else
      static_cast<Atomic*>(static_cast<stepped*>(at))->store(value);
  }
  /// `operation(changes)` says whether it has changed what is there; it has, unless it says so.
  template <class Operation>
  auto locked(Operation operation) const {
    scheduler* const s = explorer();
    if (s != nullptr) s->step(place()), s->flush();
    bool changes = true;
    const auto result = operation(changes);
    if (s != nullptr) note(*s, changes);
    return result;
  }
  /// A store of what is there already, or an exchange that fails, is in no order with those that only read.
  void note(scheduler& s, bool changes) const {
    if (changes)
      s.writes(place());
    else
      s.reads(place());
  }
};

template <class T>
struct placed_ref : std::atomic_ref<T> {
  explicit placed_ref(T& at) : std::atomic_ref<T>(at), place_of(&at) {}
  T* place_of;
};

}  // namespace levada::test

namespace levada::detail {

template <class T>
struct atomic : test::stepped<std::atomic<T>, T> {
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : test::stepped<std::atomic<T>, T>(value) {}
  atomic(const atomic&) = delete;
  T operator=(T value) noexcept { return this->store(value), value; }
  operator T() const noexcept { return this->load(); }
};

template <class T>
struct atomic_ref : test::stepped<test::placed_ref<T>, T> {
  explicit atomic_ref(T& of) noexcept : test::stepped<test::placed_ref<T>, T>(of) {}
};

class mutex {
 public:
  void lock() {
    test::scheduler* const s = test::explorer();
    if (s == nullptr) return real_.lock();
    s->step(this);
    while (held_) s->block(this);
    s->writes(this);
    held_ = true;
  }
  bool try_lock() {
    test::scheduler* const s = test::explorer();
    if (s == nullptr) return real_.try_lock();
    s->step(this);
    s->writes(this);
    return !std::exchange(held_, true);
  }
  void unlock() {
    test::scheduler* const s = test::explorer();
    if (s == nullptr) return real_.unlock();
    s->step(this);
    s->flush();
    held_ = false;
    s->wake(this);
  }

 private:
  std::mutex real_;
  bool held_ = false;
};

class thread {
 public:
  thread() = default;
  template <class F>
  explicit thread(F f) : state_(&test::explorer()->start(std::move(f))) {}
  thread(thread&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  thread& operator=(thread&& other) noexcept {
    state_ = std::exchange(other.state_, nullptr);
    return *this;
  }
  bool joinable() const { return state_ != nullptr; }
  void join() { test::explorer()->join(*std::exchange(state_, nullptr)); }

 private:
  test::explored_thread* state_ = nullptr;
};

using thread_mark = const void*;
inline thread_mark this_thread_mark() noexcept {
  static const char none = 0;
  test::scheduler* const s = test::explorer();
  return s != nullptr ? s->running_thread() : &none;
}

inline void full_fence() noexcept {
  if (test::scheduler* const s = test::explorer())
    s->step(nullptr), s->flush();
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline constexpr bool has_heavy_fence = true;
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
inline void heavy_fence() noexcept {
  if (test::scheduler* const s = test::explorer())
    s->step(s->everything()), s->flush_all();
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

inline int processors() noexcept { return 4; }

inline void spin_pause() noexcept {
  if (test::scheduler* const s = test::explorer()) s->yield(200);
}
inline void yield_thread() noexcept {
  if (test::scheduler* const s = test::explorer()) s->yield(1'000);
}
inline void sleep_thread(std::chrono::nanoseconds for_so_long) {
  if (test::scheduler* const s = test::explorer()) s->yield(static_cast<std::uint64_t>(for_so_long.count()));
}
inline std::chrono::steady_clock::time_point thread_time() noexcept {
  test::scheduler* const s = test::explorer();
  return s != nullptr ? s->now() : std::chrono::steady_clock::now();
}

}  // namespace levada::detail
