// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/region_kind.hpp: which runs and regions eigen computes as one kernel: a product with weights or
// of two values, and element-wise ops behind it or alone, as one expression. Plain values.

#include <array>
#include <cstddef>

#include <levada/backend/detail/operand_layout.hpp>
#include <levada/backend/detail/weighted_run.hpp>
#include <levada/backend/eigen/detail/expression.hpp>
#include <levada/backend/eigen/detail/matmul.hpp>

namespace levada::detail {

/// How many ops at the head of a region are its product; 0: the region has none.
constexpr std::size_t eigen_product_ops(const region_info& region) {
  const op_info& first = region[0];
  if (first.kind == "matmul") return eigen_matmul::takes(first) ? 1 : 0;
  std::size_t chain = 1;
  while (chain < region.size() && region[chain].takes.size() == 1 && region.producer(chain, 0) == chain - 1) ++chain;
  std::size_t folded = weighted_run_of(region.ops().first(chain)).folded;
  // What is taken behind the product is its result alone.
  for (std::size_t op = folded; op < region.size(); ++op)
    for (std::size_t k = 0; k < region[op].takes.size(); ++k)
      if (const std::size_t from = region.producer(op, k); from != region_info::outside && from + 1 < folded)
        folded = from + 1;
  return first.groups == 1 ? folded : 0;
}

/// How many of the last axes a row of results has, beside which all other values lie; 0: none will do.
constexpr std::size_t eigen_place_axes(const region_info& region, std::size_t product_ops) {
  const shape& results = region.gives().extents;
  const auto lie_beside = [&](std::size_t axes) {
    for (std::size_t op = product_ops; op < region.size(); ++op)
      for (std::size_t k = 0; k < region[op].takes.size(); ++k)
        if (region.producer(op, k) == region_info::outside &&
            layout_beside(region[op].takes[k].extents, results, axes) == operand_layout::other)
          return false;
    return true;
  };
  if (product_ops != 0) return lie_beside(place_axes(region[0].kind)) ? place_axes(region[0].kind) : 0;
  for (std::size_t axes = results.rank; axes > 0; --axes)
    if (lie_beside(axes)) return axes;
  return 0;
}

/// Expressions compute a value as often as it is taken: so many functions are evaluated for an element.
constexpr std::size_t eigen_evaluations(const region_info& region, std::size_t product_ops) {
  std::array<std::size_t, 16> count{};
  for (std::size_t op = product_ops; op < region.size(); ++op) {
    count[op] = 1;
    for (std::size_t k = 0; k < region[op].takes.size(); ++k)
      if (const std::size_t from = region.producer(op, k); from != region_info::outside) count[op] += count[from];
  }
  return count[region.size() - 1];
}

constexpr bool eigen_takes(const region_info& region) {
  if (region.size() > 16 || !all_float(region.ops())) return false;
  const std::size_t product = eigen_product_ops(region);
  const shape& results = region.gives().extents;
  for (std::size_t op = product; op < region.size(); ++op) {
    const op_info& info = region[op];
    if (!info.has_function || !is_expression(info.kind) || info.takes.size() > 2) return false;
    if (info.gives.extents != results) return false;
  }
  if (product == 0 && region.size() == 1) return false;
  if (product != 0 && region[product - 1].gives.extents != results) return false;
  return eigen_place_axes(region, product) != 0 && eigen_evaluations(region, product) <= 2 * region.size();
}

}  // namespace levada::detail
