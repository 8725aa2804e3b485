// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_depthwise.hpp: qlinear_conv2d whose groups are single channels. A plane becomes int32
// without its zero point, the columns of a stride apart from each other, so that every tap reads neighbours; or quads
// (qlinear_depthwise_by_quads.hpp).

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/qlinear_depthwise_by_quads.hpp>
#include <levada/backend/simd/detail/qlinear_planes.hpp>
#include <levada/backend/simd/detail/quads.hpp>

namespace levada {

namespace detail {

template <class Arch, class In, class Op>
class simd_qlinear_depthwise : public qlinear_planes<simd_qlinear_depthwise<Arch, In, Op>, Arch, In, Op> {
  using base = qlinear_planes<simd_qlinear_depthwise, Arch, In, Op>;
  friend base;
  using base::lanes, base::height, base::width, base::rows, base::columns;
  using typename base::byte, typename base::ints, typename base::written;

  static constexpr window2d w = Op::window;
  /// Columns of the padded plane that are a stride apart.
  static constexpr std::size_t apart = w.stride_x, padded = w.left + width + w.right,
                               each_apart = ceil_div(padded, apart), row_length = apart * each_apart;

 public:
  // Vectors are read and written whole, behind the last row, too.
  static constexpr std::size_t scratch_bytes = round_up(
      (height * row_length + round_up(std::max(each_apart, columns), lanes) + lanes) * sizeof(std::int32_t), 64);

  simd_qlinear_depthwise(const Op& op, const parameter_values& p)
      : weights_(op, p), epilogue_(op, weights_), zero_point_(op.numbers.x.zero_point) {}

 private:
  void begin(std::byte*) const {}
  void lay_out_plane(const byte* plane, const byte* end, std::byte* scratch) const {
    auto* const to = reinterpret_cast<std::int32_t*>(scratch);
    for (std::size_t y = 0; y < height; ++y) lay_out(plane + y * width, end, to + y * row_length);
  }

  static constexpr std::size_t place_of(std::size_t column) { return column % apart * each_apart + column / apart; }

  /// A row of the plane. A vector writes behind its columns, too: what belongs there is written afterwards. `end`: that
  /// of all rows.
  void lay_out(const byte* from, const byte* end, std::int32_t* to) const {
    const ints zero_point(zero_point_);
    if constexpr (apart == 1) {
      for (std::size_t i = 0; i < width; i += lanes)
        (integers<byte>(from + i, end) - zero_point).store_unaligned(to + w.left + i);
    } else if constexpr (apart == 2) {
      static_assert(std::endian::native == std::endian::little);
      using pair = std::conditional_t<std::is_signed_v<byte>, std::int16_t, std::uint16_t>;
      const auto every_other = [&](auto is_second) LEVADA_INLINE {
        for (std::size_t i = 0; i < ceil_div(width, 2); i += lanes) {
          const ints pairs = integers<pair>(from + 2 * i, end);
          ints bytes = pairs >> 8;
          if constexpr (!is_second) bytes = std::is_signed_v<byte> ? pairs << 24 >> 24 : pairs & ints(0xff);
          (bytes - zero_point).store_unaligned(to + place_of(w.left + is_second) + i);
        }
      };
      // In the order in which they lie in the plane.
      every_other(std::bool_constant<w.left % 2 != 0>());
      every_other(std::bool_constant<w.left % 2 == 0>());
    } else {
      for (std::size_t x = 0; x < width; ++x) to[place_of(w.left + x)] = from[x] - zero_point_;
    }
    for (std::size_t x = 0; x < w.left; ++x) to[place_of(x)] = 0;
    for (std::size_t x = w.left + width; x < padded; ++x) to[place_of(x)] = 0;
  }
  /// As many elements of type `T` as there are lanes, those behind the end 0.
  template <class T>
  LEVADA_INLINE static ints integers(const byte* from, const byte* end) {
    const auto left = static_cast<std::size_t>(end - from);
    if (left >= lanes * sizeof(T)) [[likely]]
      return load_as<std::int32_t, Arch>(reinterpret_cast<const T*>(from));
    T elements[lanes]{};
    std::memcpy(elements, from, left);
    return load_as<std::int32_t, Arch>(elements);
  }

  LEVADA_INLINE void compute_plane(const std::byte* scratch, std::size_t f, written* to, const written* end) const {
    const typename base::epilogue::local finish(epilogue_);
    for (std::size_t y = 0; y < rows; ++y, to += columns) compute_row(scratch, f, y, finish, to, end);
  }
  LEVADA_INLINE void compute_row(const std::byte* scratch, std::size_t f, std::size_t y,
                                 const typename base::epilogue::local& finish, written* to, const written* end) const {
    const auto* const plane = reinterpret_cast<const std::int32_t*>(scratch);
    const std::int8_t* const taps = weights_.weight.data() + f * w.taps();
    // The rows of the window that are in the plane; the others are padding, which adds nothing.
    const std::size_t above = y * w.stride_y, dilation = w.dilation_y;
    const std::size_t first = above >= w.top ? 0 : ceil_div(w.top - above, dilation);
    const std::size_t last =
        std::min(w.height, above >= height + w.top ? 0 : ceil_div(height + w.top - above, dilation));
    const auto sums_at = [&](std::size_t x, std::size_t ky, std::size_t end_ky) LEVADA_INLINE {
      ints sum(weights_.bias[f]);
      for (; ky < end_ky; ++ky) {
        const std::int32_t* const row = plane + (above + ky * dilation - w.top) * row_length + x;
        for (std::size_t kx = 0; kx < w.width; ++kx)
          sum = sum + load<std::int32_t, Arch>(row + place_of(kx * w.dilation_x)) * ints(taps[ky * w.width + kx]);
      }
      return finish.of_filter(sum, f);
    };
    const bool is_whole = first == 0 && last == w.height;
    for (std::size_t x = 0; x < columns; x += lanes)
      base::store(is_whole ? sums_at(x, 0, w.height) : sums_at(x, first, last), to + x, end);
  }

  quantized_weights<simd_on<Arch>, In, Op> weights_;
  typename base::epilogue epilogue_;
  std::int32_t zero_point_;
};

/// Each filter sees one channel, and weights have no zero point.
template <class In, class Op>
concept qlinear_depthwise = run_takes<In, Op> && (Op::groups > 1) && Op::groups == In::extents[0] &&
                            !std::same_as<typename Op::weight_type, std::uint8_t>;
template <class Arch, class In, class Op>
using qlinear_depthwise_way =
    typename std::conditional_t<takes_neighbour_quads<Arch, Op>,
                                std::type_identity<simd_qlinear_depthwise_by_quads<Arch, In, Op>>,
                                std::type_identity<simd_qlinear_depthwise<Arch, In, Op>>>::type;

}  // namespace detail

template <class Arch, class In, std::size_t Filters, class To, class Weight, class... Options>
  requires detail::qlinear_depthwise<In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
struct simd_kernel<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
    : detail::qlinear_depthwise_way<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>> {
  using way = detail::qlinear_depthwise_way<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>>;
  using way::way;
};

}  // namespace levada
