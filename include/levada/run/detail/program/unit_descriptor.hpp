// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/unit_descriptor.hpp: what a program is told of the code of a unit: constants, made from the types
// of stages and kernels.

#include <cstddef>
#include <string_view>

#include <levada/core/detail/device_queue.hpp>
#include <levada/graph/detail/stage.hpp>
#include <levada/run/detail/program/erased_object.hpp>
#include <levada/run/detail/program/stage_address.hpp>
#include <levada/run/detail/program/unit_call.hpp>

namespace levada::detail {

/// A unit's code, and how its object comes about: a constant for each stage.
struct unit_descriptor {
  std::string_view name{};
  unit_code run = nullptr;
  erased_object (*make)(void* callable) = nullptr;  ///< where the object owns something
  std::size_t bytes = 0, alignment = 0;             ///< where it is copied as bytes; 0: it is a kernel, and made before
  bool own_copy = false;                            ///< each session has a copy of the object: it has state
  destroy_code destroy = nullptr;                   ///< of what it gives
  bool observes_missing = false;                    ///< its code is also called for items that ended before
  std::size_t sides = 0;                            ///< how many places it is given beside its item
  const device_kernel* (*on_device)(const void* kernel) = nullptr;  ///< where a device computes it by itself
  bool holds_pipelines = false;
  bool copyable = true;                                              ///< the object, where `make` is there
  erased_object (*make_kernel)(const stage_address* ops) = nullptr;  ///< of ops in a row, with their weights
  tiles_code of_tiles = nullptr;                                     ///< of a kernel that the plan divides
  std::size_t tiles = 1;                                             ///< that it has

  /// What cannot be copied and is called by several threads at once unconditionally is shared by all sessions.
  constexpr bool is_copied_per_session(concurrency order) const {
    return own_copy && (copyable || order == concurrency::serial);
  }
};

/// Units that follow one another, as one.
struct chain_text {
  chain_code run = nullptr;
  std::size_t units = 0;
  chain_code run_one = nullptr;  ///< a single item, where a few chains are all there is
};

}  // namespace levada::detail
