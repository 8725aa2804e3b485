// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_conv2d.hpp: qlinear_conv2d (+ max_pool2d) (+ flatten or reshape) as one kernel. The
// picture is padded and laid out in quads (quads.hpp), four channels or four columns in each; then it is a convolution
// like one of float (conv2d.hpp), of quads in place of numbers.

#include <algorithm>
#include <cstring>
#include <memory>
#include <variant>

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/conv2d.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/quads.hpp>

namespace levada {

namespace detail {

/// What lies in a quad: the sum is over channels, rows and columns of the window alike.
enum class quad_axis : std::uint8_t { channels, columns };

/// A convolution of quads, as conv_run.hpp has one of numbers: of a picture that has its padding, by a window whose
/// taps are quads. `PairsFit`: those of its weights do (quads.hpp).
template <class In, class Conv, class Weights, class Written, quad_axis Axis, bool PairsFit, class... Tail>
struct quad_run {
  using value = std::int32_t;
  using result = Written;
  static constexpr matrix_element elements = matrix_element::bytes;

  static constexpr window2d of_bytes = Conv::window, pool = op_tail_of<Tail...>().pool;
  static constexpr bool by_columns = Axis == quad_axis::columns, relu = false;
  static constexpr std::size_t byte_channels = In::extents[0];
  static constexpr std::size_t channels = by_columns ? byte_channels : ceil_div(byte_channels, 4),
                               height = In::extents[1] + of_bytes.top + of_bytes.bottom,
                               width = In::extents[2] + of_bytes.left + of_bytes.right;
  static constexpr std::size_t filters = Conv::filters;
  static constexpr std::size_t rows = pool.output_rows(of_bytes.output_rows(In::extents[1])),
                               columns = pool.output_columns(of_bytes.output_columns(In::extents[2]));
  static constexpr window2d window = [] {
    window2d w = of_bytes;
    w.top = w.left = w.bottom = w.right = 0;
    if (by_columns) w.width = ceil_div(w.width, 4), w.dilation_x *= 4;
    return w;
  }();

  struct taps {
    std::size_t first, end, row;
  };
  LEVADA_INLINE static constexpr taps taps_of(std::size_t y) { return {0, window.height, y * window.stride_y}; }

  template <class Arch>
  LEVADA_INLINE static vector<value, Arch> add_products(const vector<value, Arch>& inputs,
                                                        const vector<value, Arch>& weights,
                                                        const vector<value, Arch>& sum) {
    return add_quad_products<Arch, PairsFit>(inputs, weights, sum);
  }
  template <class Arch>
  static constexpr std::size_t registers_of_products = registers_of_quads<Arch>;

  struct parameters {
    const Weights& weights;
    int zero_point;
  };
  /// sum (x - zero_point) w = sum x w - zero_point sum w
  static value bias(const parameters& p, std::size_t filter) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < Weights::each; ++i) sum += p.weights.weight[filter * Weights::each + i];
    return p.weights.bias[filter] - p.zero_point * sum;
  }
  static value weight(const parameters& p, std::size_t f, std::size_t c, std::size_t ky, std::size_t kx) {
    std::int8_t bytes[4]{};
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t channel = by_columns ? c : 4 * c + i, column = by_columns ? 4 * kx + i : kx;
      if (channel < byte_channels && column < of_bytes.width)
        bytes[i] = p.weights.weight[((f * byte_channels + channel) * of_bytes.height + ky) * of_bytes.width + column];
    }
    return quad_of(bytes);
  }
  static bool all_pairs_fit(const parameters& p) {
    // Weights of seven bits fit whatever their neighbours are: to put quads together takes as long as to pack them.
    std::int8_t least = 0, most = 0;
    for (const std::int8_t w : p.weights.weight) least = std::min(least, w), most = std::max(most, w);
    if (least >= -64 && most <= 64) return true;
    for (std::size_t f = 0; f < filters; ++f)
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t tap = 0; tap < window.taps(); ++tap)
          if (!pairs_fit(weight(p, f, c, tap / window.width, tap % window.width))) return false;
    return true;
  }
};

/// The cycles of a whole convolution, doubled.
template <class Arch, class Run>
inline constexpr std::size_t quad_run_cost = [] {
  const std::size_t by_vectors =
      direct_cost<Run>(std::min(best_column_tiling<Arch, Run>().cost, best_channel_tiling<Arch, Run>().cost));
  return takes_matrices<Arch, Run> ? std::min(by_vectors, best_matrix_layout<Run>::cost) : by_vectors;
}();

template <class Arch, class In, class Op, class... Tail>
class simd_qlinear_conv {
  using byte = typename In::value_type;
  using weights = quantized_weights<simd_on<Arch>, In, Op>;
  using epilogue = qlinear_epilogue<Arch, Op>;
  template <quad_axis Axis, bool PairsFit = false>
  using run_by = quad_run<In, Op, weights, typename epilogue::written, Axis, PairsFit, Tail...>;
  static constexpr quad_axis axis =
      quad_run_cost<Arch, run_by<quad_axis::columns>> < quad_run_cost<Arch, run_by<quad_axis::channels>>
          ? quad_axis::columns
          : quad_axis::channels;
  using run = run_by<axis>;
  using way = simd_conv<Arch, run, epilogue>;
  using run_of_pairs = run_by<axis, multiplies_byte_pairs<Arch>>;
  using way_of_pairs = simd_conv<Arch, run_of_pairs, epilogue>;
  /// Which it is depends on the weights; they lie alike.
  using ways = std::conditional_t<multiplies_byte_pairs<Arch>, std::variant<way, way_of_pairs>, std::variant<way>>;
  static_assert(tiles_of<way> == tiles_of<way_of_pairs> && way::scratch_bytes == way_of_pairs::scratch_bytes);

  static constexpr window2d w = Op::window;
  static constexpr std::size_t lanes = lanes_in<std::int32_t, Arch>, plane = run::height * run::width;
  // Vectors are read and written whole, behind the last plane, too.
  static constexpr std::size_t padded_bytes = round_up(In::extents[0] * plane + 3 * w.dilation_x + lanes, 64),
                               quad_bytes = round_up((run::channels * plane + lanes) * sizeof(std::int32_t), 64);

 public:
  static constexpr std::string_view method = method_of<way>;
  static constexpr std::size_t scratch_bytes = padded_bytes + quad_bytes + way::scratch_bytes;
  static constexpr std::size_t tiles = tiles_of<way>;

  simd_qlinear_conv(const Op& op, const parameter_values& p)
      : simd_qlinear_conv(op, std::make_unique<const weights>(op, p)) {}

  void operator()(const In& in, auto& out, std::byte* scratch) const { of_tiles(in, out, scratch, {0, tiles}); }
  void of_tiles(const In& in, auto& out, std::byte* scratch, tile_range some) const {
    auto* const padded = reinterpret_cast<byte*>(scratch);
    auto* const quads = reinterpret_cast<std::int32_t*>(scratch + padded_bytes);
    if constexpr (run::by_columns) {
      pad(in.data(), padded, 0);
      lay_out(padded, w.dilation_x, In::extents[0] * plane, quads);
    } else {
      // Without padding planes are read where they are, but for the last ones: vectors reach behind them.
      constexpr std::size_t read_in_place = is_padded || plane < lanes ? 0 : run::channels - 1;
      pad(in.data(), padded, 4 * read_in_place);
      for (std::size_t c = 0; c < run::channels; ++c)
        lay_out_channels(c < read_in_place ? in.data() : padded, 4 * c, quads + c * plane);
    }
    const auto compute = [&](const auto& by) {
      by(quads, reinterpret_cast<typename epilogue::written*>(out.data()), scratch + padded_bytes + quad_bytes,
         no_join(), nullptr, some);
    };
    if constexpr (multiplies_byte_pairs<Arch>)
      if (const auto* by_pairs = std::get_if<1>(&ways_)) return compute(*by_pairs);
    compute(*std::get_if<0>(&ways_));
  }

 private:
  simd_qlinear_conv(const Op& op, const std::unique_ptr<const weights>& packed)
      : ways_(made({*packed, quad_zero_point<byte>(op.numbers)}, epilogue(op, *packed))),
        outside_(static_cast<byte>(op.numbers.x.zero_point)) {}

  static ways made(const typename run::parameters& p, const epilogue& e) {
    if constexpr (multiplies_byte_pairs<Arch>)
      if (run::all_pairs_fit(p))
        return ways(std::in_place_index<1>, typename run_of_pairs::parameters{p.weights, p.zero_point}, e);
    return ways(std::in_place_index<0>, p, e);
  }

  static constexpr bool is_padded = plane != In::extents[1] * In::extents[2];

  /// The planes from the `first`.
  void pad(const byte* in, byte* to, std::size_t first) const {
    if constexpr (!is_padded) {
      std::memcpy(to + first * plane, in + first * plane, In::elements - first * plane);
    } else {
      std::memset(to, static_cast<unsigned char>(outside_), In::extents[0] * plane);
      for (std::size_t c = 0; c < In::extents[0]; ++c)
        for (std::size_t y = 0; y < In::extents[1]; ++y)
          std::memcpy(to + c * plane + (y + w.top) * run::width + w.left,
                      in + (c * In::extents[1] + y) * In::extents[2], In::extents[2]);
    }
  }

  /// Quads of bytes that lie `step` apart; of as many vectors as `count` of them take.
  static void lay_out(const byte* from, std::size_t step, std::size_t count, std::int32_t* to) {
    const byte* const parts[] = {from, from + step, from + 2 * step, from + 3 * step};
    lay_out(parts, count, to);
  }
  /// The planes of four channels as one; where there are none, the weights are 0.
  static void lay_out_channels(const byte* planes, std::size_t first, std::int32_t* to) {
    const byte* parts[4];
    for (std::size_t i = 0; i < 4; ++i) parts[i] = planes + std::min(first + i, In::extents[0] - 1) * plane;
    lay_out(parts, plane, to);
  }
  static void lay_out(const byte* const (&parts)[4], std::size_t count, std::int32_t* to) {
    std::size_t i = 0;
    // Of vectors of 512 bits g++ 12 picks the bytes one by one.
    using set = isa::at_most_256_bits<Arch>;
    constexpr std::size_t step = lanes_in<std::uint8_t, set>;
    for (; i + step <= count; i += step) lay_out_vector<set>(parts, i, to + i);
    const auto bytes = [&](std::size_t part, std::size_t at) LEVADA_INLINE {
      return load_as<std::int32_t, Arch>(reinterpret_cast<const std::uint8_t*>(parts[part]) + at);
    };
    for (; i < count; i += lanes) {
      vector<std::int32_t, Arch> quads = bytes(0, i) | bytes(1, i) << 8 | bytes(2, i) << 16 | bytes(3, i) << 24;
      if constexpr (quad_sign<byte> != 0) quads = quads ^ vector<std::int32_t, Arch>(quad_sign<byte>);
      quads.store_unaligned(to + i);
    }
  }

  /// A vector of each part, from their byte `at` on.
  template <class Set>
  LEVADA_INLINE static void lay_out_vector(const byte* const (&parts)[4], std::size_t at, std::int32_t* to) {
    using bytes = vector<std::uint8_t, Set>;
    using shorts = vector<std::uint16_t, Set>;
    const auto pairs = [&]<bool Upper>(std::size_t part, std::bool_constant<Upper>) LEVADA_INLINE {
      const auto* const from = reinterpret_cast<const std::uint8_t*>(parts[part]) + at;
      const auto* const beside = reinterpret_cast<const std::uint8_t*>(parts[part + 1]) + at;
      return std::bit_cast<shorts>(
          interleaved<Upper, std::uint8_t, Set>(bytes::load_unaligned(from), bytes::load_unaligned(beside)));
    };
    static_for<2>([&](auto upper) LEVADA_INLINE {
      constexpr std::bool_constant<upper != 0> half;
      const shorts first = pairs(0, half), second = pairs(2, half);
      static_for<2>([&](auto n) LEVADA_INLINE {
        auto quads = std::bit_cast<vector<std::int32_t, Set>>(interleaved<n != 0, std::uint16_t, Set>(first, second));
        if constexpr (quad_sign<byte> != 0) quads = quads ^ vector<std::int32_t, Set>(quad_sign<byte>);
        quads.store_unaligned(to + (2 * upper + n) * lanes_in<std::int32_t, Set>);
      });
    });
  }

  ways ways_;
  byte outside_;
};

/// What may follow inside the kernel: a pool and a change of shape.
template <class... Tail>
inline constexpr bool qlinear_conv_tail = op_tail_of<Tail...>().fuses && !op_tail_of<Tail...>().bias &&
                                          !op_tail_of<Tail...>().relu && !op_tail_of<Tail...>().transformed;

/// Quads are of one group and of weights without a zero point; the rest is computed by its definition.
template <class In, class Op, class... Tail>
concept qlinear_conv_run = run_takes<In, Op, Tail...> && Op::groups == 1 &&
                           !std::same_as<typename Op::weight_type, std::uint8_t> && qlinear_conv_tail<Tail...>;

}  // namespace detail

template <class Arch, class In, std::size_t Filters, class To, class Weight, class... Options>
  requires detail::qlinear_conv_run<In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
struct simd_kernel<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
    : detail::simd_qlinear_conv<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>> {
  using detail::simd_qlinear_conv<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>>::simd_qlinear_conv;
};

template <class Arch, class In, std::size_t Filters, class To, class Weight, class... Options, class First,
          class... Tail>
  requires detail::qlinear_conv_run<In, qlinear_conv2d_op<Filters, To, Weight, Options...>, First, Tail...>
struct simd_kernel<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>, First, Tail...>
    : detail::simd_qlinear_conv<Arch, In, qlinear_conv2d_op<Filters, To, Weight, Options...>, First, Tail...> {
  using op_type = qlinear_conv2d_op<Filters, To, Weight, Options...>;

  simd_kernel(const op_type& op, const First&, const Tail&..., const parameter_values& p)
      : detail::simd_qlinear_conv<Arch, In, op_type, First, Tail...>(op, p) {}
};

}  // namespace levada
