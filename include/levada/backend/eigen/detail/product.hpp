// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/eigen/detail/product.hpp: matrix products by Eigen's inner kernel, in blocks whose memory is the caller's.
// (Eigen's own products take theirs from the heap or, of fixed sizes, from the stack, and pack weights anew in each
// call.)
//
//   out[j][i] += sum over k of right[j][k] * left[k][i]
//
// All three lie row by row. In Eigen's terms that is a product of column-major matrices, out = left * right.

#include <algorithm>
#include <cstddef>

#include <levada/backend/eigen/detail/library.hpp>
#include <levada/core/detail/storage.hpp>

namespace levada::detail {

/// A block of `left` that is packed at once: 192 is a multiple of what Eigen's kernels take of it, 3 registers.
struct eigen_blocks {
  static constexpr std::size_t inner = 256, left = 192, right = 512;

  /// Bytes to pack one block of a product of that size.
  static constexpr std::size_t left_bytes(std::size_t i, std::size_t k) {
    return (std::min(i, left) * std::min(k, inner) * sizeof(float) + 63) / 64 * 64;
  }
  static constexpr std::size_t right_bytes(std::size_t j, std::size_t k) {
    return (std::min(j, right) * std::min(k, inner) * sizeof(float) + 63) / 64 * 64;
  }
};

/// Eigen's packing and inner kernel, of float.
struct eigen_gebp {
  using index = Eigen::Index;
  using traits = Eigen::internal::gebp_traits<float, float>;
  using left_mapper = Eigen::internal::const_blas_data_mapper<float, index, Eigen::ColMajor>;
  using right_mapper = Eigen::internal::const_blas_data_mapper<float, index, Eigen::ColMajor>;
  using result_mapper = Eigen::internal::blas_data_mapper<float, index, Eigen::ColMajor, Eigen::Unaligned, 1>;

  static index at(std::size_t n) { return static_cast<index>(n); }

  static void pack_left(float* to, const float* from, std::size_t stride, std::size_t i, std::size_t k) {
    Eigen::internal::gemm_pack_lhs<float, index, left_mapper, traits::mr, traits::LhsProgress,
                                   typename traits::LhsPacket4Packing, Eigen::ColMajor>()(
        to, left_mapper(from, at(stride)), at(k), at(i));
  }
  static void pack_right(float* to, const float* from, std::size_t stride, std::size_t j, std::size_t k) {
    Eigen::internal::gemm_pack_rhs<float, index, right_mapper, traits::nr, Eigen::ColMajor>()(
        to, right_mapper(from, at(stride)), at(k), at(j));
  }
  static void multiply(float* out, std::size_t stride, const float* left, const float* right, std::size_t i,
                       std::size_t j, std::size_t k) {
    Eigen::internal::gebp_kernel<float, float, index, result_mapper, traits::mr, traits::nr, false, false>()(
        result_mapper(out, at(stride)), left, right, at(i), at(k), at(j), 1.0f);
  }
};

/// Calls `f(first, count)` for the blocks of a range.
template <class F>
void for_each_block(std::size_t whole, std::size_t block, F f) {
  for (std::size_t first = 0; first < whole; first += block) f(first, std::min(block, whole - first));
}

/// The right side of products, packed once.
class packed_right {
 public:
  packed_right(const float* right, std::size_t rows, std::size_t inner)
      : rows_(rows), inner_(inner), packed_(pitch() * ((inner + eigen_blocks::inner - 1) / eigen_blocks::inner), 64) {
    for_each_block(inner_, eigen_blocks::inner, [&](std::size_t k, std::size_t count) {
      eigen_gebp::pack_right(block(k), right + k, inner_, rows_, count);
    });
  }

  /// Adds the product to `out`, of rows of `columns`. `left_block(i, i_count, k, k_count)` gives where a block of the
  /// left side begins, and its rows' distance; `done(i, i_count)` is called when these columns are.
  template <class LeftBlock, class Done>
  void operator()(float* out, std::size_t columns, float* packing, LeftBlock left_block, Done done) const {
    for_each_block(columns, eigen_blocks::left, [&](std::size_t i, std::size_t i_count) {
      for_each_block(inner_, eigen_blocks::inner, [&](std::size_t k, std::size_t k_count) {
        const auto [from, stride] = left_block(i, i_count, k, k_count);
        eigen_gebp::pack_left(packing, from, stride, i_count, k_count);
        eigen_gebp::multiply(out + i, columns, packing, block(k), i_count, rows_, k_count);
      });
      done(i, i_count);
    });
  }

 private:
  /// The bytes of a block of the inner axis.
  std::size_t pitch() const { return (rows_ * std::min(inner_, eigen_blocks::inner) * sizeof(float) + 63) / 64 * 64; }
  float* block(std::size_t k) const {
    return reinterpret_cast<float*>(packed_.get() + pitch() * (k / eigen_blocks::inner));
  }

  std::size_t rows_, inner_;
  arena_bytes packed_;
};

/// One product of which both sides are packed as they come, added to `out`; `packing` has left_bytes() and, behind
/// them, right_bytes().
inline void add_product(float* out, const float* left, const float* right, std::size_t columns, std::size_t rows,
                        std::size_t inner, std::byte* packing) {
  float* const packed_left = reinterpret_cast<float*>(packing);
  float* const packed_right = reinterpret_cast<float*>(packing + eigen_blocks::left_bytes(columns, inner));
  for_each_block(inner, eigen_blocks::inner, [&](std::size_t k, std::size_t k_count) {
    for_each_block(rows, eigen_blocks::right, [&](std::size_t j, std::size_t j_count) {
      eigen_gebp::pack_right(packed_right, right + j * inner + k, inner, j_count, k_count);
      for_each_block(columns, eigen_blocks::left, [&](std::size_t i, std::size_t i_count) {
        eigen_gebp::pack_left(packed_left, left + k * columns + i, columns, i_count, k_count);
        eigen_gebp::multiply(out + j * columns + i, columns, packed_left, packed_right, i_count, j_count, k_count);
      });
    });
  });
}

}  // namespace levada::detail
