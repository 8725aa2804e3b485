// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/worker.hpp: the settings of the worker threads of a deployment: processors, name, priority and
// first call.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#endif

#include <levada/core/detail/device.hpp>
#include <levada/core/detail/fixed_string.hpp>
#include <levada/core/detail/log.hpp>
#include <levada/core/error.hpp>

namespace levada {

enum class priority : std::uint8_t { normal, low, high };

/// An arena of the executor's library that the caller owns and keeps alive, with its own number of workers:
/// `deploy<box>(pipeline, in_arena(arena))`, run/detail/workers/tbb_executor.hpp.
struct worker_arena {
  void* arena = nullptr;
};

namespace detail {

struct worker_settings {
  processor_set processors{};
  const char* name = nullptr;
  levada::priority priority = levada::priority::normal;
  void (*on_start)() noexcept = nullptr;
  worker_arena arena{};

  constexpr bool are_plain() const {
    return processors.count == 0 && name == nullptr && priority == levada::priority::normal && on_start == nullptr;
  }
};

}  // namespace detail

/// Option of `deploy`: the name of its workers, as a debugger shows it; 15 characters at most.
template <fixed_string Name>
struct worker_name {
  static constexpr auto text = Name;
  static constexpr void apply(detail::worker_settings& w) { w.name = text.view().data(); }
};

/// Option of `deploy`: workers before, or behind, others. oneTBB: the priority of the arena; else the nice value, as
/// far as the system lets us.
template <priority Priority>
struct worker_priority {
  static constexpr void apply(detail::worker_settings& w) { w.priority = Priority; }
};

/// Option of `deploy`: a worker calls it when it begins to work for this deployment; oneTBB's workers come and go.
template <auto Hook>
struct on_worker_start {
  static constexpr void apply(detail::worker_settings& w) { w.on_start = Hook; }
};

namespace detail {

/// More of a name than the system keeps of a thread's.
template <class Option>
inline constexpr bool names_at_length = false;
template <fixed_string Name>
inline constexpr bool names_at_length<worker_name<Name>> = (Name.view().size() > 15);

/// A hook that may throw, takes or gives something, or is none: nobody could catch what it throws.
template <class Option>
inline constexpr bool has_wrong_hook = false;
template <auto Hook>
inline constexpr bool has_wrong_hook<on_worker_start<Hook>> = !std::convertible_to<decltype(Hook), void (*)() noexcept>;

/// Throws levada::error where a processor of the set is not ours. That the calling thread does not run there says
/// nothing: another may.
template <class = void>
inline void check_processors([[maybe_unused]] const processor_set& set) {
#ifdef __linux__
  cpu_set_t own;
  if (set.count == 0 || sched_getaffinity(0, sizeof own, &own) != 0) return;
  for (int i = 0; i < set.count; ++i) {
    const auto number = static_cast<std::size_t>(set.numbers[i]);
    if (CPU_ISSET(number, &own)) continue;
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(number, &there);
    if (sched_setaffinity(0, sizeof there, &there) != 0)
      throw error("levada: affinity: this process may not run on processor " + std::to_string(set.numbers[i]));
    sched_setaffinity(0, sizeof own, &own);
  }
#endif
}

/// The settings of a thread before it became a worker.
struct thread_before {
#ifdef __linux__
  cpu_set_t processors;
  char name[16];
#endif
};

/// Makes the calling thread a worker; `apply_worker_settings` and `restore_worker_settings` frame its time as one.
template <class = void>
inline thread_before apply_worker_settings(const worker_settings& w) noexcept {
  thread_before before{};
#ifdef __linux__
  if (w.processors.count != 0) {
    pthread_getaffinity_np(pthread_self(), sizeof before.processors, &before.processors);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < w.processors.count; ++i) CPU_SET(static_cast<std::size_t>(w.processors.numbers[i]), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }
  if (w.name != nullptr) {
    pthread_getname_np(pthread_self(), before.name, sizeof before.name);
    pthread_setname_np(pthread_self(), w.name);
  }
#endif
  if (w.on_start != nullptr) w.on_start();
  return before;
}
template <class = void>
inline void restore_worker_settings([[maybe_unused]] const worker_settings& w,
                                    [[maybe_unused]] const thread_before& before) noexcept {
#ifdef __linux__
  if (w.processors.count != 0) pthread_setaffinity_np(pthread_self(), sizeof before.processors, &before.processors);
  if (w.name != nullptr) pthread_setname_np(pthread_self(), before.name);
#endif
}

/// For a thread of our own, that ends as a worker.
template <class = void>
inline void apply_worker_settings_for_good(const worker_settings& w) noexcept {
  apply_worker_settings(w);
#ifdef __linux__
  if (w.priority != priority::normal && setpriority(PRIO_PROCESS, 0, w.priority == priority::low ? 10 : -10) != 0)
    log(log_level::warning, "a worker's priority was not set: the system does not permit it");
#endif
}

}  // namespace detail
}  // namespace levada
