// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/queues.hpp: the parts of a plan whose items wait at servers for the processes that run them, and how many
// of these the items in flight keep busy.

#include <algorithm>
#include <cstddef>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/queue_info.hpp>
#include <levada/plan/detail/plan_info.hpp>

namespace levada {

/// A unit whose items wait at servers. Nothing is lost by fewer processes than are kept busy: each then has more.
struct planned_queue {
  const queue_info* of = nullptr;
  std::size_t unit = 0;
  std::size_t most_messages = 0;   ///< in flight at once: an item in each
  std::size_t least_messages = 0;  ///< where as many items share them as may
  std::size_t busy_threads = 0;    ///< of all processes, that have an item at once, at most
  std::size_t sure_threads = 0;    ///< the same where each process has messages ahead; 0: not known
  std::size_t busy_workers = 0;    ///< processes that have that many threads; 0: not known
};

/// In the order of the units.
template <std::size_t N>
constexpr bounded<planned_queue, N> queues_of(const plan_info<N>& plan) {
  bounded<planned_queue, N> all;
  for (std::size_t u = 0; u < plan.unit.size(); ++u) {
    const queue_info* const of = plan.graph.nodes[plan.unit[u].first].queue;
    if (of == nullptr) continue;
    planned_queue q{of, u, plan.slots, (plan.slots + of->items_a_message - 1) / of->items_a_message};
    q.busy_threads = of->partitions == 0 ? plan.slots : std::min(plan.slots, of->partitions);
    if (of->worker_threads != 0) {
      const std::size_t in_hand = of->worker_threads + of->messages_ahead;
      q.busy_workers = (q.busy_threads + of->worker_threads - 1) / of->worker_threads;
      q.sure_threads =
          q.busy_threads / in_hand * of->worker_threads + std::min(q.busy_threads % in_hand, of->worker_threads);
    }
    all.push_back(q);
  }
  return all;
}

}  // namespace levada
