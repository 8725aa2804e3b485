// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/tbb_executor.hpp: oneTBB's workers as ours, and a flow graph as the backbone of plans with several
// segments.
//
// A message is the hint that there may be work; it carries a pointer to the visit. Nodes are lightweight and noexcept,
// so they run on the thread that enters: nothing is spawned, queued or allocated on the way. A worker is invited by
// task_arena::enqueue, one pooled task each time. try_put from a thread outside would need somebody in wait_for_all.

#include <cstddef>
#include <mutex>
#include <utility>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/executor.hpp>
#include <levada/run/detail/workers/threading.hpp>
#include <levada/run/detail/workers/worker.hpp>

namespace levada {
namespace detail {

/// The workers of an arena, for all deployments that have them, and the number of those invited.
struct arena_workers {
  oneapi::tbb::task_arena* arena;
  int threads;
  priority wanted;
  atomic<int> invited{0};
  arena_workers* next;
};

/// Workers that wait in the stages of no app, but for a permit: oneTBB has no other thread for what they are wanted for
/// elsewhere, in the same arena or, where all its threads wait so, in another.
template <class = void>
struct basic_waiting_workers {
  struct worker {
    event_count& event;
    worker* next;
  };
  atomic<int> invited{0};  ///< by all deployments
  atomic<int> count{0};
  std::mutex mutex;
  worker* first = nullptr;

  void tell() {
    if (count.load() == 0) return;
    const std::lock_guard lock(mutex);
    for (worker* w = first; w != nullptr; w = w->next) w->event.notify_all();
  }
  static basic_waiting_workers& all() {
    static basic_waiting_workers& here = *new basic_waiting_workers;  // to the end of the process, as the arenas
    return here;
  }
};
using waiting_workers = basic_waiting_workers<>;

/// Of the caller's arena; or of one of ours for each number of threads and priority.
///
/// To the end of the process: workers may come late, and an arena that is destroyed keeps its memory while a task of it
/// was not run (6 KB each, oneTBB 2021.8).
///
/// How many threads run the stages of a deployment is up to its permits.
template <class = void>
inline arena_workers& workers_of(oneapi::tbb::task_arena* given, int threads, priority wanted) {
  using oneapi::tbb::task_arena;
  struct arenas {
    std::mutex mutex;
    arena_workers* ours = nullptr;
    arena_workers* callers = nullptr;
  };
  static arenas& found = *new arenas;
  const std::lock_guard lock(found.mutex);
  arena_workers*& first = given != nullptr ? found.callers : found.ours;
  for (arena_workers* w = first; w != nullptr; w = w->next)
    if (given != nullptr ? w->arena == given : w->threads == threads && w->wanted == wanted) return *w;
  using level = task_arena::priority;
  const level p = wanted == priority::low ? level::low : wanted == priority::high ? level::high : level::normal;
  first = new arena_workers{given != nullptr ? given : new task_arena(threads, 1, p), threads, wanted, {0}, first};
  return *first;
}

}  // namespace detail

/// The workers of this arena, for `deploy<box>(pipeline, in_arena(arena))`. It has to outlive the app and its sessions.
inline worker_arena in_arena(oneapi::tbb::task_arena& arena) { return {&arena}; }

namespace detail {

/// A flow graph: a node for each segment, an edge between neighbours. The nodes of devices are compiled only where a
/// plan has devices, and no node where a header is only included.
template <bool WithDevices, class Visit = visit>
class flow_backbone final : public backbone {
 public:
  flow_backbone(const fixed_array<bool>& on_device, void* session, step_code step)
      : nodes_(on_device.size(), [&](std::size_t s) {
          if constexpr (WithDevices)
            if (on_device[s]) return device(session, s, step);
          return processor(session, s, step);
        }) {}

  void enter(visit& v) noexcept override { first_->try_put(&v); }

 private:
  using hint = Visit*;
  using cpu_node = oneapi::tbb::flow::function_node<hint, hint, oneapi::tbb::flow::lightweight>;
  using device_node = oneapi::tbb::flow::async_node<hint, hint, oneapi::tbb::flow::lightweight>;
  using any_node = owner<oneapi::tbb::flow::graph_node>;

  any_node processor(void* session, std::size_t s, step_code step) {
    auto* const node = new cpu_node(graph_, oneapi::tbb::flow::unlimited, [=](hint v) noexcept {
      step(session, s, *v);
      return v;
    });
    any_node owned(node);
    connect(*node, *node);
    return owned;
  }

  any_node device(void* session, std::size_t s, step_code step) {
    using gateway = typename device_node::gateway_type;
    auto* const node = new device_node(graph_, oneapi::tbb::flow::unlimited, [=](hint v, gateway& to) noexcept {
      step(session, s, *v);
      to.try_put(v);  // the hint; the items come when the device reports them
    });
    any_node owned(node);
    connect(*node, oneapi::tbb::flow::output_port<0>(*node));  // an edge from the node itself would be none
    return owned;
  }

  void connect(oneapi::tbb::flow::receiver<hint>& in, oneapi::tbb::flow::sender<hint>& out) {
    if (last_ != nullptr)
      oneapi::tbb::flow::make_edge(*last_, in);
    else
      first_ = &in;
    last_ = &out;
  }

  oneapi::tbb::flow::graph graph_;
  oneapi::tbb::flow::receiver<hint>* first_ = nullptr;
  oneapi::tbb::flow::sender<hint>* last_ = nullptr;
  fixed_array<any_node> nodes_;  // made last
};

}  // namespace detail

/// oneTBB: its workers come when invited and park by themselves.
class tbb_executor {
 public:
  /// One thread is the caller's. Where that leaves none, oneTBB still brings a worker for what is enqueued; to ask for
  /// one beyond the number of processors would make it print a warning.
  tbb_executor(int threads, const detail::worker_settings& workers)
      : workers_(workers),
        of_arena_(detail::workers_of(static_cast<oneapi::tbb::task_arena*>(workers.arena.arena), allowed(threads),
                                     workers.priority)) {
    detail::check_processors(workers.processors);
  }

  static int workers(int threads, const detail::worker_settings& workers) {
    return workers.arena.arena != nullptr || threads == 1 ? threads : threads - 1;
  }

  template <class Call = detail::worker_call>
  void invite(Call i) {
    if (workers_.are_plain())
      enqueue([i]() noexcept { i.call(i.argument); });
    else
      enqueue([i, workers = workers_]() noexcept {
        const detail::thread_before before = detail::apply_worker_settings(workers);
        i.call(i.argument);
        detail::restore_worker_settings(workers, before);  // oneTBB's workers are everybody's
      });
  }
  int invited() const { return of_arena_.invited.load(); }
  static int invited_to_all() { return detail::waiting_workers::all().invited.load(); }

  /// The calling worker parks at an event as long as nobody else wants it.
  class waiting_worker {
   public:
    explicit waiting_worker(detail::event_count& at) : me_{at, nullptr} {
      const std::lock_guard lock(all_.mutex);
      me_.next = detail::exchange_value(all_.first, &me_);
      all_.count.fetch_add(1);
    }
    waiting_worker(const waiting_worker&) = delete;
    waiting_worker& operator=(const waiting_worker&) = delete;
    ~waiting_worker() {
      const std::lock_guard lock(all_.mutex);
      all_.count.fetch_sub(1);
      detail::waiting_workers::worker** at = &all_.first;
      while (*at != &me_) at = &(*at)->next;
      *at = me_.next;
    }

   private:
    detail::waiting_workers& all_ = detail::waiting_workers::all();
    detail::waiting_workers::worker me_;
  };

  template <class F>
  static void isolated(F f) {
    oneapi::tbb::this_task_arena::isolate(std::move(f));
  }

  template <bool WithDevices>
  static detail::owner<detail::backbone> make_backbone(const detail::fixed_array<bool>& on_device, void* session,
                                                       detail::step_code step) {
    return detail::owner<detail::backbone>(new detail::flow_backbone<WithDevices>(on_device, session, step));
  }

 private:
  template <class Call>
  void enqueue(Call call) {
    detail::waiting_workers& all = detail::waiting_workers::all();
    of_arena_.invited.fetch_add(1);
    all.invited.fetch_add(1);
    try {
      of_arena_.arena->enqueue([call = std::move(call), &of = of_arena_, &all]() noexcept {
        of.invited.fetch_sub(1);
        all.invited.fetch_sub(1);
        call();
      });
    } catch (...) {
      of_arena_.invited.fetch_sub(1);
      all.invited.fetch_sub(1);
      throw;
    }
    all.tell();
  }
  /// oneTBB prints a warning when asked for more workers than it may have.
  static int allowed(int threads) {
    using control = oneapi::tbb::global_control;
    const std::size_t most = control::active_value(control::max_allowed_parallelism);
    return static_cast<std::size_t>(threads) < most ? threads : static_cast<int>(most);
  }

  const detail::worker_settings workers_;
  detail::arena_workers& of_arena_;
};

/// oneTBB is the executor where no option names another.
template <>
struct default_executor<void> {
  using type = tbb_executor;
};

}  // namespace levada
