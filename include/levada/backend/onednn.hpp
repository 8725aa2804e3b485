// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn.hpp: the backend that computes by oneDNN (libdnnl): convolutions, pools, dense layers and products of
// float, with the element-wise ops that follow them.

#include <cstddef>
#include <memory>
#include <string_view>

#include <levada/backend/onednn/detail/run.hpp>
#include <levada/core/detail/device.hpp>

namespace levada {

/// What oneDNN computes:
/// - conv2d and dense, each with a batch_norm and bias in its weights, and matmul;
/// - the element-wise ops behind these that oneDNN has as post-ops, of a result and of another value
///   (backend/onednn/detail/post_op.hpp);
/// - max_pool2d and avg_pool2d;
/// - runs and regions of these, a flatten before a dense layer included. Inside values keep oneDNN's layouts: only
///   inputs and output are reordered.
///
/// Name another backend beside it for everything else. oneDNN works on the calling thread (a libdnnl built on OpenMP).
///
/// Its relus, bounds and largest elements lose a NaN. What values inside a run take is its to say, so that it is not
/// planned: it lies beside the scratchpads, once for each call that was ever under way at the same time. oneDNN itself
/// allocates a few small objects in each primitive's call.
struct onednn {
  static constexpr std::string_view name = "onednn";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 7;

  static constexpr bool takes(op_run run) { return !detail::onednn_steps_of(detail::linked_ops(run)).empty(); }
  static constexpr bool takes(const region_info& region) {
    return !detail::onednn_steps_of(detail::linked_ops(region)).empty();
  }

  using ready = std::unique_ptr<const detail::onednn_program>;
  static ready prepare(op_run run, parameter_values p) {
    return detail::make_onednn_program(detail::linked_ops(run), p);
  }
  static ready prepare(const region_info& region, parameter_values p) {
    return detail::make_onednn_program(detail::linked_ops(region), p);
  }
  static void run(const ready& program, const void* const* inputs, void* output, std::byte*) {
    (*program)(inputs, output);
  }

  template <class In, class... Ops>
  using kernel = prepared_kernel<onednn, In, Ops...>;
  template <class Region>
  using region_kernel = prepared_region_kernel<onednn, Region>;
};

}  // namespace levada
