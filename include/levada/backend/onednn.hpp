// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn.hpp: the backend that computes by oneDNN (libdnnl): convolutions, pools and dense layers of float.

#include <cstddef>
#include <string_view>

#include <levada/backend/onednn/detail/run.hpp>
#include <levada/core/detail/device.hpp>

namespace levada {

/// conv2d and dense, each with a batch_norm, bias and relu behind it, max_pool2d and avg_pool2d, and runs of these, a
/// flatten before a dense layer included: inside a run values keep oneDNN's layouts, and only input and output is
/// reordered. Name another backend beside it for everything else. oneDNN works on the calling thread (a libdnnl built
/// on OpenMP).
///
/// Its relus and largest elements lose a NaN. What values inside a run take is its to say, so that it is not planned:
/// it lies beside the scratchpads, once for each call that was ever under way at the same time. oneDNN itself allocates
/// a few small objects in each primitive's call.
struct onednn {
  static constexpr std::string_view name = "onednn";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 7;

  static constexpr bool takes(op_run run) { return detail::onednn_takes(run); }

  static detail::onednn_run prepare(op_run run, parameter_values p) { return detail::onednn_run(run, p); }
  static void run(const detail::onednn_run& kernel, const void* const* inputs, void* output, std::byte*) {
    kernel(inputs[0], output);
  }

  template <class In, class... Ops>
  using kernel = prepared_kernel<onednn, In, Ops...>;
};

}  // namespace levada
