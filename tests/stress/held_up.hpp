// SPDX-License-Identifier: Apache-2.0
#pragma once
// stress/held_up.hpp: atomics whose operations hold their thread up now and then, as an interrupt or a busy machine
// would. A unit that includes this header first runs the schedule of levada with them: see
// run/detail/workers/threading.hpp.

#define LEVADA_ATOMICS_OF_TEST <stress/held_up.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace levada::test {

/// One operation in so many is held up, by 0 to `most_ns`, short times more often than long ones; 0: none is. Claims,
/// the operations that compare and exchange, are held up `claims_more` times as often.
struct hold_ups {
  std::atomic<std::uint32_t> one_in{0};
  std::atomic<std::uint32_t> claims_more{16};
  std::atomic<std::uint32_t> most_ns{100'000};
  std::atomic<std::uint64_t> seed{1};
  std::atomic<std::uint64_t> threads{0};
  std::atomic<std::uint64_t> count{0};  ///< of those that were held up
};
inline hold_ups all_hold_ups;

inline std::uint64_t draw() noexcept {
  static thread_local std::uint64_t x =
      (all_hold_ups.seed.load() + all_hold_ups.threads.fetch_add(1)) * 0x9e37'79b9'7f4a'7c15u | 1;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x >> 11;
}

[[gnu::noinline]] inline void hold_up() noexcept {
  all_hold_ups.count.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t most = all_hold_ups.most_ns.load(std::memory_order_relaxed);
  if (draw() % 16 == 0) return std::this_thread::yield();
  const std::uint64_t share = draw() % 1024;
  const auto ns = static_cast<std::int64_t>(most * share / 1024 * share / 1024);
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  };
  for (const std::int64_t end = now() + ns; now() < end;) {
  }
}

inline void before_operation(bool is_claim = false) noexcept {
  const std::uint32_t one_in = all_hold_ups.one_in.load(std::memory_order_relaxed);
  if (one_in == 0) return;
  const std::uint32_t n =
      is_claim ? std::max(1u, one_in / all_hold_ups.claims_more.load(std::memory_order_relaxed)) : one_in;
  if (draw() % n == 0) hold_up();
}

/// What a test does on this thread behind each load.
inline thread_local void (*behind_load)() = nullptr;

/// The operations of `Atomic` that the schedule uses, each behind `before_operation`.
template <class Atomic, class T>
struct held_up : Atomic {
  using Atomic::Atomic;
  using order = std::memory_order;

  T load(order o = order::seq_cst) const noexcept {
    before_operation();
    const T value = Atomic::load(o);
    if (behind_load != nullptr) behind_load();
    return value;
  }
  void store(T value, order o = order::seq_cst) noexcept { before_operation(), Atomic::store(value, o); }
  T exchange(T value, order o = order::seq_cst) noexcept { return before_operation(true), Atomic::exchange(value, o); }
  bool compare_exchange_strong(T& expected, T value, order o = order::seq_cst) noexcept {
    return before_operation(true), Atomic::compare_exchange_strong(expected, value, o);
  }
  bool compare_exchange_strong(T& expected, T value, order yes, order no) noexcept {
    return before_operation(true), Atomic::compare_exchange_strong(expected, value, yes, no);
  }
  bool compare_exchange_weak(T& expected, T value, order o = order::seq_cst) noexcept {
    return before_operation(true), Atomic::compare_exchange_weak(expected, value, o);
  }
  bool compare_exchange_weak(T& expected, T value, order yes, order no) noexcept {
    return before_operation(true), Atomic::compare_exchange_weak(expected, value, yes, no);
  }
  template <class N>
  T fetch_add(N n, order o = order::seq_cst) noexcept {
    return before_operation(), Atomic::fetch_add(static_cast<typename Atomic::difference_type>(n), o);
  }
  template <class N>
  T fetch_sub(N n, order o = order::seq_cst) noexcept {
    return before_operation(), Atomic::fetch_sub(static_cast<typename Atomic::difference_type>(n), o);
  }
  void wait(T old, order o = order::seq_cst) const noexcept { before_operation(), Atomic::wait(old, o); }
};

}  // namespace levada::test

namespace levada::detail {

template <class T>
struct atomic : test::held_up<std::atomic<T>, T> {
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : test::held_up<std::atomic<T>, T>(value) {}
  T operator=(T value) noexcept { return this->store(value), value; }
};

template <class T>
struct atomic_ref : test::held_up<std::atomic_ref<T>, T> {
  explicit atomic_ref(T& of) noexcept : test::held_up<std::atomic_ref<T>, T>(of) {}
};

}  // namespace levada::detail
