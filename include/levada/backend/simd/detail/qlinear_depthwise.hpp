// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_depthwise.hpp: qlinear_conv2d whose groups are single channels. A plane becomes int32
// without its zero point, the columns of a stride apart from each other, so that every tap reads neighbours.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/quads.hpp>

namespace levada {

namespace detail {

template <class Arch, class In, class Op>
class simd_qlinear_depthwise {
  using byte = typename In::value_type;
  using epilogue = qlinear_epilogue<Arch, Op>;
  using ints = vector<std::int32_t, Arch>;
  using out_type = typename Op::template output<In>;

  static constexpr window2d w = Op::window;
  static constexpr std::size_t lanes = lanes_in<std::int32_t, Arch>, channels = In::extents[0], height = In::extents[1],
                               width = In::extents[2], rows = out_type::extents[1], columns = out_type::extents[2];
  /// Columns of the padded plane that are a stride apart; whole vectors are read of them.
  static constexpr std::size_t apart = w.stride_x, padded = w.left + width + w.right,
                               each_apart = round_up(ceil_div(padded, apart) + lanes, lanes);
  static constexpr std::size_t row_length = apart * each_apart;

 public:
  static constexpr std::size_t scratch_bytes = round_up(height * row_length * sizeof(std::int32_t), 64);

  simd_qlinear_depthwise(const Op& op, const parameter_values& p)
      : weights_(op, p), epilogue_(op, weights_), zero_point_(op.numbers.x.zero_point) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    auto* const plane = reinterpret_cast<std::int32_t*>(scratch);
    auto* to = reinterpret_cast<typename epilogue::written*>(out.data());
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t y = 0; y < height; ++y) lay_out(in.data() + (c * height + y) * width, plane + y * row_length);
      for (std::size_t f = c * Op::filters / channels; f < (c + 1) * Op::filters / channels; ++f)
        for (std::size_t y = 0; y < rows; ++y, to += columns) compute_row(plane, f, y, to);
    }
  }

 private:
  static constexpr std::size_t place_of(std::size_t column) { return column % apart * each_apart + column / apart; }

  void lay_out(const byte* from, std::int32_t* to) const {
    byte row[row_length];
    std::fill_n(row, row_length, static_cast<byte>(zero_point_));
    std::memcpy(row + w.left, from, width);
    const ints zero_point(zero_point_);
    if constexpr (apart == 1) {
      for (std::size_t i = 0; i < each_apart; i += lanes)
        (load_as<std::int32_t, Arch>(row + i) - zero_point).store_unaligned(to + i);
    } else if constexpr (apart == 2) {
      static_assert(std::endian::native == std::endian::little);
      using pair = std::conditional_t<std::is_signed_v<byte>, std::int16_t, std::uint16_t>;
      for (std::size_t i = 0; i < each_apart; i += lanes) {
        const ints both = load_as<std::int32_t, Arch>(reinterpret_cast<const pair*>(row + 2 * i));
        const ints first = std::is_signed_v<byte> ? both << 24 >> 24 : both & ints(0xff);
        (first - zero_point).store_unaligned(to + i);
        ((both >> 8) - zero_point).store_unaligned(to + each_apart + i);
      }
    } else {
      for (std::size_t x = 0; x < padded; ++x) to[place_of(x)] = row[x] - zero_point_;
    }
  }

  LEVADA_INLINE void compute_row(const std::int32_t* plane, std::size_t f, std::size_t y,
                                 typename epilogue::written* to) const {
    std::int32_t taps[w.height * w.width];
    for (std::size_t i = 0; i < w.height * w.width; ++i) taps[i] = weights_.weight[f * w.height * w.width + i];
    const ints bias(weights_.bias[f]);
    // The rows of the window that are in the plane; the others are padding, which adds nothing.
    const std::size_t above = y * w.stride_y, dilation = w.dilation_y;
    const std::size_t first = above >= w.top ? 0 : ceil_div(w.top - above, dilation);
    const std::size_t end =
        std::min(w.height, above >= height + w.top ? 0 : ceil_div(height + w.top - above, dilation));
    const auto sums_at = [&](std::size_t x) LEVADA_INLINE {
      ints sum = bias;
      for (std::size_t ky = first; ky < end; ++ky) {
        const std::int32_t* const row = plane + (above + ky * dilation - w.top) * row_length + x;
        for (std::size_t kx = 0; kx < w.width; ++kx)
          sum = sum + load<std::int32_t, Arch>(row + place_of(kx * w.dilation_x)) * ints(taps[ky * w.width + kx]);
      }
      return epilogue_.of_filter(sum, f);
    };
    for_each_vector<std::int32_t, Arch, columns>([&](std::size_t x) LEVADA_INLINE { store_as(to + x, sums_at(x)); },
                                                 [&](std::size_t x, auto n)
                                                     LEVADA_INLINE { store_part_as<n>(to + x, sums_at(x)); });
  }

  quantized_weights<simd_on<Arch>, In, Op> weights_;
  epilogue epilogue_;
  std::int32_t zero_point_;
};

/// Each filter sees one channel, and weights have no zero point.
template <class In, class Op>
concept qlinear_depthwise = run_takes<In, Op> && (Op::groups > 1) && Op::groups == In::extents[0] &&
                            !std::same_as<typename Op::weight_type, std::uint8_t>;

}  // namespace detail

template <class Arch, class In, std::size_t Filters, class To, class Weight, class... Options>
  requires detail::qlinear_depthwise<In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
struct simd_kernel<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
    : detail::simd_qlinear_depthwise<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>> {
  using detail::simd_qlinear_depthwise<Arch, In,
                                       qlinear_conv2d_op<Filters, To, Weight, Options...>>::simd_qlinear_depthwise;
};

}  // namespace levada
