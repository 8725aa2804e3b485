// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_depthwise_by_quads.hpp: qlinear_conv2d whose groups are single channels: four neighbours
// of a row by four taps at once (quads.hpp). A vector of outputs goes down the padded plane, and the quads of a row
// stay in registers for all rows of the output that read it.

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
  using base::lanes, base::height, base::width, base::rows, base::columns;
  using typename base::byte, typename base::ints, typename base::written;

  static constexpr window2d w = Op::window;
  static constexpr std::size_t quads_in_row = ceil_div(w.width, 4), taps = w.height * quads_in_row;
  /// The padded plane, as far as outputs read it; vectors of the last row reach farther.
  static constexpr std::size_t padded = std::max(w.left + width, (columns - 1) * w.stride_x + w.width),
                               padded_rows = std::max(w.top + height, (rows - 1) * w.stride_y + w.reach_y());
  static constexpr std::size_t last_vector = (columns - 1) / lanes * lanes;
  /// Rows of a window that the one below it has, too.
  static constexpr std::size_t kept_rows = w.dilation_y == 1 && w.stride_y < w.height ? w.height - w.stride_y : 0;

 public:
  static constexpr std::size_t scratch_bytes = round_up(
      padded_rows * padded + last_vector * w.stride_x + 4 * quads_in_row + neighbour_bytes<w.stride_x, Arch>, 64);

  simd_qlinear_depthwise_by_quads(const Op& op, const parameter_values& p)
      : simd_qlinear_depthwise_by_quads(op, std::make_unique<const weights>(op, p)) {}

 private:
  void begin(std::byte* scratch) const { std::fill_n(reinterpret_cast<byte*>(scratch), scratch_bytes, outside_); }
  /// All rows are copied first: a row that has just been written would be read from the store buffer, slowly.
  void lay_out_plane(const byte* plane, const byte*, std::byte* scratch) const {
    byte* const bytes = reinterpret_cast<byte*>(scratch) + w.top * padded + w.left;
    for (std::size_t y = 0; y < height; ++y) std::memcpy(bytes + y * padded, plane + y * width, width);
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

  LEVADA_INLINE void compute_plane(const std::byte* scratch, std::size_t f, written* to, const written* end) const {
    if constexpr (multiplies_byte_pairs<Arch>)
      if (pairs_fit_[f]) return compute_plane_by<true>(reinterpret_cast<const byte*>(scratch), f, to, end);
    compute_plane_by<false>(reinterpret_cast<const byte*>(scratch), f, to, end);
  }
  /// From the right to the left: a vector is written whole, over what follows its columns.
  template <bool PairsFit>
  void compute_plane_by(const byte* plane, std::size_t f, written* to, const written* end) const {
    const typename base::epilogue::local finish(epilogue_);
    ints weight[taps];
    unrolled<taps>([&](std::size_t i) LEVADA_INLINE { weight[i] = ints(quads_[f][i]); });
    const ints bias(bias_[f]);
    for (std::size_t x = last_vector + lanes; x != 0;) {
      x -= lanes;
      ints quads[w.height][quads_in_row];
      const auto read = [&](std::size_t ky, std::size_t row) LEVADA_INLINE {
        unrolled<quads_in_row>([&](std::size_t q) LEVADA_INLINE {
          const ints quad = neighbour_quads<w.stride_x, Arch>(plane + row * padded + x * w.stride_x + 4 * q);
          quads[ky][q] = quad ^ ints(quad_sign<byte>);
        });
      };
      unrolled<kept_rows>([&](std::size_t ky) LEVADA_INLINE { read(ky, ky); });
      for (std::size_t y = 0; y < rows; ++y) {
        unrolled<w.height - kept_rows>(
            [&](std::size_t i) LEVADA_INLINE { read(kept_rows + i, y * w.stride_y + (kept_rows + i) * w.dilation_y); });
        ints sum = bias;
        unrolled<w.height, quads_in_row>([&](std::size_t ky, std::size_t q) LEVADA_INLINE {
          sum = add_quad_products<Arch, PairsFit>(quads[ky][q], weight[ky * quads_in_row + q], sum);
        });
        base::store(finish.of_filter(sum, f), to + y * columns + x, end);
        unrolled<kept_rows, quads_in_row>([&](std::size_t ky, std::size_t q)
                                              LEVADA_INLINE { quads[ky][q] = quads[ky + w.stride_y][q]; });
      }
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
