// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen.hpp: the backend that computes matrix products of float by Eigen's kernels.

#include <cstddef>
#include <string_view>
#include <variant>

#include <levada/backend/eigen/detail/conv2d.hpp>
#include <levada/backend/eigen/detail/dense.hpp>
#include <levada/backend/eigen/detail/matmul.hpp>
#include <levada/core/detail/device.hpp>

namespace levada {

/// conv2d without groups and dense, each with a batch_norm, bias and relu behind it, and matmul. Name another backend
/// beside it for everything else. Eigen is compiled for the instruction set of the unit that includes it, under names
/// that do not say which: let all units of a program that include this header have the same.
struct eigen {
  static constexpr std::string_view name = "eigen";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 4;

  static constexpr bool takes(op_run run) {
    if (!detail::all_float(run)) return false;
    if (run[0].kind == "matmul") return run.size() == 1 && detail::eigen_matmul::takes(run[0]);
    return detail::weighted_run_of(run).count == run.size() && run[0].groups == 1;
  }
  static constexpr std::size_t scratch_bytes(op_run run) {
    if (run[0].kind == "conv2d") return detail::eigen_conv2d::scratch_bytes(run[0]);
    return run[0].kind == "matmul" ? detail::eigen_matmul::scratch_bytes(run[0]) : 0;
  }

  using ready = std::variant<detail::eigen_conv2d, detail::eigen_dense, detail::eigen_matmul>;
  static ready prepare(op_run run, parameter_values p) {
    if (run[0].kind == "matmul") return detail::eigen_matmul(run[0]);
    const detail::folded_weights folded = detail::fold_weights(run, p);
    if (run[0].kind == "conv2d") return detail::eigen_conv2d(run, folded);
    return detail::eigen_dense(run, folded);
  }

  static void run(const ready& kernel, const void* const* inputs, void* output, std::byte* scratch) {
    const auto* in = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    if (const auto* conv = std::get_if<detail::eigen_conv2d>(&kernel)) (*conv)(in, out, scratch);
    if (const auto* dense = std::get_if<detail::eigen_dense>(&kernel)) (*dense)(in, out);
    if (const auto* product = std::get_if<detail::eigen_matmul>(&kernel))
      (*product)(in, static_cast<const float*>(inputs[1]), out, scratch);
  }

  template <class In, class... Ops>
  using kernel = prepared_kernel<eigen, In, Ops...>;
};

}  // namespace levada
