// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/engine_links.hpp: the devices and the code that only some engines have. A program whose plans have
// no use for that code does not compile it.

#include <cstddef>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/device_bridge.hpp>
#include <levada/run/detail/engine/segment.hpp>

namespace levada::detail {

template <class>
class basic_branch_runner;

/// For plans that run the branches of an item at once: run_branches.hpp.
struct branch_calls {
  bool (*run)(basic_branch_runner<void>& of, segment& seg, grain& g) noexcept;
  bool (*help)(basic_branch_runner<void>& of, std::size_t s, grain*& goes_on) noexcept;
};

struct engine_links {
  fixed_array<device_queue*> queues = {};  ///< of each segment, null for the processor; empty: none has a device
  open_bridge_code open_bridge = nullptr;
  const branch_calls* branches = nullptr;  ///< null: branches run one after the other

  bool has_device(std::size_t s) const { return !queues.empty() && queues[s] != nullptr; }
  bool has_devices() const {
    for (const device_queue* q : queues)
      if (q != nullptr) return true;
    return false;
  }
};

}  // namespace levada::detail
