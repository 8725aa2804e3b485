// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/executor.hpp: what the engine asks of an executor: workers, and the nodes and edges that a visit goes along.
//
//   struct executor {
//     executor(int threads, const worker_settings&);  // workers, started or only allowed
//     void invite(invitation);                        // some worker calls it, soon, once
//     static void isolated(F f);                      // calls f; user code in it takes no outer tasks
//     class backbone {                                // one per session: a node per segment
//       backbone(const std::vector<bool>& on_device, void* session, step_code step);
//       void enter(visit&) noexcept;                  // this thread goes through all nodes once
//     };
//     using without_devices = ...;                    // optional: a leaner one, for plans without devices
//   };

#include <cstddef>

namespace levada {

/// The executor of a deployment, as an option; without it `default_executor`.
template <class Executor>
struct run_by {};

/// The executor where no option (`void`) names one: specialised by the header that brings it, run/tbb_executor.hpp.
template <class Option>
struct default_executor;

namespace detail {

/// One thread's way through the nodes. Nodes note whether they had something to do.
struct visit {
  bool any = false;
};

using step_code = void (*)(void* session, std::size_t segment, visit&) noexcept;

/// A call that a worker makes once.
struct invitation {
  void (*call)(void*) noexcept;
  void* argument;
};

}  // namespace detail
}  // namespace levada
