// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/executor.hpp: the demands of the engine on an executor: workers, and the nodes and edges that a
// visit goes along where a plan has more segments than one.
//
//   struct executor {
//     executor(int threads, const worker_settings&);            // workers, started or only allowed
//     static int workers(int threads, const worker_settings&);  // how many there can be
//     void invite(worker_call);                                 // some worker calls it, soon, once, in order
//     int invited() const;                                      // how many such calls no worker has come to yet
//     static void isolated(F f);                                // calls f; user code in it takes no outer tasks
//     // Optional: nodes and edges between the segments of a session. Without, workers go from one to the next.
//     template <bool WithDevices>
//     static owner<backbone> make_backbone(...);
//     // Optional, where deployments share workers.
//     static int invited_to_all();                              // `invited`, of all deployments
//     struct waiting_worker { waiting_worker(event_count&); };  // one that may park there: calls come to it meanwhile
//   };

#include <cstddef>

#include <levada/core/detail/storage.hpp>

namespace levada {

/// The executor of a deployment, as an option; without it `default_executor`.
template <class Executor>
struct run_by {};

/// The executor where no option (`void`) names one: specialised by the header that brings it,
/// run/detail/workers/tbb_executor.hpp.
template <class Option>
struct default_executor;

namespace detail {

/// One thread's way through the nodes. Nodes note whether they had something to do.
struct visit {
  bool any = false;
};

using step_code = void (*)(void* session, std::size_t segment, visit&) noexcept;

/// A node per segment, and the edges between them.
class backbone {
 public:
  virtual ~backbone() = default;
  /// This thread goes through all nodes once.
  virtual void enter(visit& v) noexcept = 0;
};

using backbone_code = owner<backbone> (*)(const fixed_array<bool>& on_device, void* session, step_code step);

/// A call that a worker makes once.
struct worker_call {
  void (*call)(void*) noexcept;
  void* argument;
};

}  // namespace detail
}  // namespace levada
