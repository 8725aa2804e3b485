// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/tbb_executor.hpp: a oneTBB flow graph as the backbone, its workers as ours.
//
// A message is the hint that there may be work; it carries a pointer to the visit. Nodes are lightweight and noexcept, so
// they run on the thread that enters: nothing is spawned, queued or allocated on the way. A worker is invited by
// task_arena::enqueue, one pooled task each time. try_put from a thread outside would need somebody in wait_for_all.

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <levada/run/executor.hpp>
#include <levada/run/worker.hpp>

namespace levada {
namespace detail {

/// One arena for each number of threads and priority, for all deployments and to the end of the process: an arena that is
/// destroyed keeps its memory while a task of it was not run (6 KB each, oneTBB 2021.8). How many threads run the stages of
/// a deployment is up to its permits.
inline oneapi::tbb::task_arena& shared_arena(int threads, priority wanted) {
  struct shared {
    int threads;
    priority wanted;
    std::unique_ptr<oneapi::tbb::task_arena> arena;
  };
  struct arenas {
    std::mutex mutex;
    std::vector<shared> all;
  };
  static arenas& found = *new arenas;  // reachable to the end: workers may come late
  const std::lock_guard lock(found.mutex);
  for (const shared& s : found.all)
    if (s.threads == threads && s.wanted == wanted) return *s.arena;
  using level = oneapi::tbb::task_arena::priority;
  const level p = wanted == priority::low ? level::low : wanted == priority::high ? level::high : level::normal;
  found.all.push_back({threads, wanted, std::make_unique<oneapi::tbb::task_arena>(threads, 1, p)});
  return *found.all.back().arena;
}

}  // namespace detail

/// The workers of this arena, for `deploy<box>(pipeline, in_arena(arena))`. It has to outlive the app and its sessions.
inline worker_arena in_arena(oneapi::tbb::task_arena& arena) { return {&arena}; }

/// oneTBB: its workers come when invited and park by themselves. The nodes of devices are instantiated only where a plan has
/// devices: they are a tenth of what compiling a small program costs.
template <bool WithDevices>
class basic_tbb_executor {
 public:
  using without_devices = basic_tbb_executor<false>;

  /// One thread is the caller's. Where that leaves none, oneTBB still brings a worker for what is enqueued; to ask for one
  /// beyond the number of processors would make it print a warning.
  basic_tbb_executor(int threads, const detail::worker_settings& workers)
      : workers_(workers),
        arena_(workers.arena.arena != nullptr ? static_cast<oneapi::tbb::task_arena*>(workers.arena.arena)
                                              : &detail::shared_arena(allowed(threads), workers.priority)) {
    detail::check_processors(workers.processors);
  }

  void invite(detail::invitation i) {
    if (workers_.are_plain())
      arena_->enqueue([i]() noexcept { i.call(i.argument); });
    else
      arena_->enqueue([i, workers = workers_]() noexcept {
        const detail::thread_before before = detail::dress(workers);
        i.call(i.argument);
        detail::undress(workers, before);  // oneTBB's workers are everybody's
      });
  }

  template <class F>
  static void isolated(F f) {
    oneapi::tbb::this_task_arena::isolate(std::move(f));
  }

  class backbone {
   public:
    backbone(const std::vector<bool>& on_device, void* session, detail::step_code step) {
      for (std::size_t s = 0; s < on_device.size(); ++s) {
        if (on_device[s]) {
          if constexpr (WithDevices) {
            using gateway = typename device_node::gateway_type;
            auto node = std::make_unique<device_node>(
                graph_, oneapi::tbb::flow::unlimited, [=](detail::visit* v, gateway& to) noexcept {
                  step(session, s, *v);
                  to.try_put(v);  // the hint; the items come when the device reports them
                });
            device_node& n = *node;
            nodes_.push_back(std::move(node));
            connect(n, oneapi::tbb::flow::output_port<0>(n));  // an edge from the node itself would be none
          }
        } else {
          auto node = std::make_unique<cpu_node>(graph_, oneapi::tbb::flow::unlimited, [=](detail::visit* v) noexcept {
            step(session, s, *v);
            return v;
          });
          cpu_node& n = *node;
          nodes_.push_back(std::move(node));
          connect(n, n);
        }
      }
    }

    void enter(detail::visit& v) noexcept { first_->try_put(&v); }

   private:
    using hint = detail::visit*;
    using cpu_node = oneapi::tbb::flow::function_node<hint, hint, oneapi::tbb::flow::lightweight>;
    using device_node = oneapi::tbb::flow::async_node<hint, hint, oneapi::tbb::flow::lightweight>;

    void connect(oneapi::tbb::flow::receiver<hint>& in, oneapi::tbb::flow::sender<hint>& out) {
      if (last_ != nullptr)
        oneapi::tbb::flow::make_edge(*last_, in);
      else
        first_ = &in;
      last_ = &out;
    }

    oneapi::tbb::flow::graph graph_;
    std::vector<std::unique_ptr<oneapi::tbb::flow::graph_node>> nodes_;
    oneapi::tbb::flow::receiver<hint>* first_ = nullptr;
    oneapi::tbb::flow::sender<hint>* last_ = nullptr;
  };

 private:
  /// oneTBB prints a warning when asked for more workers than it may have.
  static int allowed(int threads) {
    using control = oneapi::tbb::global_control;
    const std::size_t most = control::active_value(control::max_allowed_parallelism);
    return static_cast<std::size_t>(threads) < most ? threads : static_cast<int>(most);
  }

  const detail::worker_settings workers_;
  oneapi::tbb::task_arena* const arena_;
};

using tbb_executor = basic_tbb_executor<true>;

/// oneTBB runs what no option gives to another executor.
template <>
struct default_executor<void> {
  using type = tbb_executor;
};

}  // namespace levada
