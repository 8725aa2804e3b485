// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/matmul.hpp: the product of two items, one pair of matrices after the other.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <levada/backend/eigen/detail/product.hpp>
#include <levada/backend/prepared.hpp>

namespace levada::detail {

class eigen_matmul {
 public:
  explicit eigen_matmul(const op_info& op)
      : rows_(extent(op.takes[0], 2)),
        inner_(extent(op.takes[0], 1)),
        columns_(extent(op.takes[1], 1)),
        batch_(op.gives.extents.elements() / (rows_ * columns_)) {}

  /// As many matrices on both sides.
  static constexpr bool takes(const op_info& op) {
    const shape &a = op.takes[0].extents, &b = op.takes[1].extents;
    if (a.rank != b.rank || a.rank < 2) return false;
    return std::equal(a.begin(), a.begin() + (a.rank - 2), b.begin());
  }
  static constexpr std::size_t scratch_bytes(const op_info& op) {
    const std::size_t inner = extent(op.takes[0], 1);
    return eigen_blocks::left_bytes(extent(op.takes[1], 1), inner) +
           eigen_blocks::right_bytes(extent(op.takes[0], 2), inner);
  }

  template <class Epilogue>
  void operator()(const float* const* inputs, float* out, std::byte* scratch, const Epilogue& epilogue) const {
    const auto [a, b] = std::pair(inputs[0], inputs[1]);
    std::fill_n(out, batch_ * rows_ * columns_, 0.0f);
    for (std::size_t m = 0; m < batch_; ++m) {
      float* const to = out + m * rows_ * columns_;
      add_product(to, b + m * inner_ * columns_, a + m * rows_ * inner_, columns_, rows_, inner_, scratch);
      for (std::size_t r = 0; r < rows_; ++r) epilogue(to + r * columns_, m * rows_ + r, 0, columns_);
    }
  }

 private:
  static constexpr std::size_t extent(const tensor_info& t, std::size_t from_last) {
    return t.extents[t.extents.rank - from_last];
  }
  std::size_t rows_, inner_, columns_, batch_;
};

}  // namespace levada::detail
