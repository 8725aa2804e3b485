// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen.hpp: the backend that computes matrix products of float by Eigen's kernels, and element-wise ops by its
// expressions.

#include <cstddef>
#include <string_view>

#include <levada/backend/eigen/detail/kernel.hpp>
#include <levada/core/detail/device.hpp>

namespace levada {

/// Matrix products by Eigen:
/// - conv2d without groups and dense, each with a batch_norm and bias in its weights, and matmul;
/// - the element-wise ops behind these, which may join other values, as one expression over each block of results;
/// - several of such ops alone (backend/eigen/detail/expression.hpp lists them).
///
/// Name another backend beside it for everything else. Eigen is compiled for the instruction set of the unit that
/// includes it, under names that do not say which: all units of a program that include this header need the same.
struct eigen {
  static constexpr std::string_view name = "eigen";
  static constexpr device_kind device = device_kind::cpu;
  static constexpr std::size_t longest_run = 5;

  static constexpr bool takes(const region_info& region) { return detail::eigen_takes(region); }

  template <class In, class... Ops>
  using kernel = eigen_kernel<In, Ops...>;
  template <class Region>
  using region_kernel = eigen_region_kernel<Region>;
};

}  // namespace levada
