// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_depthwise_by_quads.hpp: qlinear_conv2d whose groups are single channels: four neighbours
// of a row by four taps at once (quads.hpp). Each row of the padded plane becomes quads once, for all rows of the
// output that read it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/qlinear_planes.hpp>

namespace levada::detail {

template <class Arch, class In, class Op>
class simd_qlinear_depthwise_by_quads
    : public qlinear_planes<simd_qlinear_depthwise_by_quads<Arch, In, Op>, Arch, In, Op> {
  using base = qlinear_planes<simd_qlinear_depthwise_by_quads, Arch, In, Op>;
  friend base;
  using weights = quantized_weights<simd_on<Arch>, In, Op>;
  using base::lanes, base::height, base::width, base::columns;
  using typename base::byte, typename base::ints, typename base::written;

  static constexpr window2d w = Op::window;
  static constexpr std::size_t quads_in_row = ceil_div(w.width, 4), taps = w.height * quads_in_row;
  /// From the quads of one output to those of the taps behind.
  static constexpr std::size_t next_quad = 4 / w.stride_x;
  static constexpr std::size_t row_length = round_up(columns + (quads_in_row - 1) * next_quad, lanes) + lanes;
  /// The padded plane, as far as outputs read it; vectors of the last row reach farther.
  static constexpr std::size_t padded = std::max(w.left + width, (columns - 1) * w.stride_x + w.width);
  static constexpr std::size_t padded_bytes =
      round_up((height + 1) * padded + (row_length - lanes) * w.stride_x + neighbour_bytes<w.stride_x, Arch>, 64);

 public:
  static constexpr std::size_t scratch_bytes = (height + 1) * row_length * sizeof(std::int32_t) + padded_bytes;

  simd_qlinear_depthwise_by_quads(const Op& op, const parameter_values& p)
      : simd_qlinear_depthwise_by_quads(op, std::make_unique<const weights>(op, p)) {}

 private:
  static std::int32_t* quads_of(std::byte* scratch) { return reinterpret_cast<std::int32_t*>(scratch); }
  static byte* padded_plane(std::byte* scratch) {
    return reinterpret_cast<byte*>(quads_of(scratch) + (height + 1) * row_length);
  }
  void begin(std::byte* scratch) const {
    byte* const bytes = padded_plane(scratch);
    std::fill_n(bytes, padded_bytes, outside_);
    lay_out(bytes + height * padded, quads_of(scratch) + height * row_length);  // a row of padding
  }
  /// All rows are copied first: a row that has just been written would be read from the store buffer, slowly.
  void lay_out_plane(const byte* plane, const byte*, std::byte* scratch) const {
    byte* const bytes = padded_plane(scratch);
    for (std::size_t y = 0; y < height; ++y) std::memcpy(bytes + y * padded + w.left, plane + y * width, width);
    for (std::size_t y = 0; y < height; ++y) lay_out(bytes + y * padded, quads_of(scratch) + y * row_length);
  }

  simd_qlinear_depthwise_by_quads(const Op& op, const std::unique_ptr<const weights>& given)
      : epilogue_(op, *given), outside_(static_cast<byte>(op.numbers.x.zero_point)) {
    const int zero_point = quad_zero_point<byte>(op.numbers);
    for (std::size_t f = 0; f < Op::filters; ++f) {
      const std::int8_t* const of_filter = given->weight.data() + f * w.taps();
      std::int32_t sum = 0;
      pairs_fit_[f] = true;
      for (std::size_t ky = 0; ky < w.height; ++ky)
        for (std::size_t q = 0; q < quads_in_row; ++q) {
          std::int8_t bytes[4]{};
          for (std::size_t kx = 4 * q; kx < std::min(4 * q + 4, w.width); ++kx)
            sum += bytes[kx - 4 * q] = of_filter[ky * w.width + kx];
          quads_[f][ky * quads_in_row + q] = quad_of(bytes);
          pairs_fit_[f] = pairs_fit_[f] && pairs_fit(quad_of(bytes));
        }
      // sum (x - zero_point) w = sum x w - zero_point sum w
      bias_[f] = given->bias[f] - zero_point * sum;
    }
  }

  static void lay_out(const byte* row, std::int32_t* to) {
    for (std::size_t x = 0; x < row_length - lanes; x += lanes)
      (neighbour_quads<w.stride_x, Arch>(row + x * w.stride_x) ^ ints(quad_sign<byte>)).store_unaligned(to + x);
  }

  LEVADA_INLINE void compute_row(const std::byte* scratch, std::size_t f, std::size_t y, written* to,
                                 const written* end) const {
    if constexpr (multiplies_byte_pairs<Arch>)
      if (pairs_fit_[f]) return compute_row_by<true>(scratch, f, y, to, end);
    compute_row_by<false>(scratch, f, y, to, end);
  }
  template <bool PairsFit>
  LEVADA_INLINE void compute_row_by(const std::byte* scratch, std::size_t f, std::size_t y, written* to,
                                    const written* end) const {
    const auto* const plane = reinterpret_cast<const std::int32_t*>(scratch);
    const std::int32_t* from[w.height];
    unrolled<w.height>([&](std::size_t ky) LEVADA_INLINE {
      const std::size_t row = y * w.stride_y + ky * w.dilation_y;
      from[ky] = plane + (row < w.top || row >= height + w.top ? height : row - w.top) * row_length;
    });
    ints weight[taps];
    unrolled<taps>([&](std::size_t i) LEVADA_INLINE { weight[i] = ints(quads_[f][i]); });
    for (std::size_t x = 0; x < columns; x += lanes) {
      ints sum(bias_[f]);
      unrolled<w.height, quads_in_row>([&](std::size_t ky, std::size_t q) LEVADA_INLINE {
        sum = add_quad_products<Arch, PairsFit>(load<std::int32_t, Arch>(from[ky] + x + q * next_quad),
                                                weight[ky * quads_in_row + q], sum);
      });
      base::store(epilogue_.of_filter(sum, f), to + x, end);
    }
  }

  std::array<std::array<std::int32_t, taps>, Op::filters> quads_;
  std::array<std::int32_t, Op::filters> bias_;
  std::array<bool, Op::filters> pairs_fit_;  ///< of the filter's quads
  typename base::epilogue epilogue_;
  byte outside_;
};

/// Windows whose taps are neighbours, of a few quads.
template <class Arch, class Op>
inline constexpr bool takes_neighbour_quads =
    picks_quads<Arch> && Op::window.dilation_x == 1 && Op::window.stride_x <= 2 &&
    Op::window.height * ceil_div(Op::window.width, 4) <= 16;

}  // namespace levada::detail
