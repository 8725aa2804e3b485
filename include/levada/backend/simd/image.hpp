// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/image.hpp: the ops of pictures on vectors; crop is in reshape.hpp.

#include <array>
#include <cstdint>

#include <levada/backend/simd/kernel.hpp>
#include <levada/backend/simd/vector.hpp>
#include <levada/image/normalize.hpp>
#include <levada/image/resize.hpp>
#include <levada/image/to_chw.hpp>

namespace levada {

template <class Arch, class In>
  requires op_takes<to_chw_op, In>
struct simd_kernel<Arch, In, to_chw_op> : detail::plain_simd_kernel<Arch, to_chw_op> {
  using detail::plain_simd_kernel<Arch, to_chw_op>::plain_simd_kernel;

  void operator()(const In& in, to_chw_op::output<In>& out, std::byte*) const {
    std::size_t i = 0;
    // A block reads past the pixels it makes: the last ones are left to the plain loop.
    if constexpr (block != 0)
      for (; i * channels + block <= In::elements; i += lanes) {
        bytes pixels;
        std::memcpy(&pixels, in.data() + i * channels, block);
        detail::static_for<channels>([&](auto c) LEVADA_INLINE {
          plane<c>(pixels, std::make_index_sequence<lanes>()).store_unaligned(out.data() + c * count + i);
        });
      }
    for (; i < count; ++i)
      for (std::size_t c = 0; c < channels; ++c) out[c * count + i] = in[i * channels + c];
  }

 private:
  static constexpr std::size_t channels = In::extents[2], count = In::elements / channels;
  static constexpr std::size_t lanes = detail::lanes_in<float, Arch>;
  // The bytes of one vector of pixels, as a power of two; nothing for pixels of many channels.
  static constexpr std::size_t block = channels <= 4 ? std::bit_ceil(channels * lanes) : 0;
  using bytes = typename detail::raw_vector<std::uint8_t, block == 0 ? 1 : block>::type;

  template <std::size_t Channel, std::size_t... I>
  LEVADA_INLINE static detail::vector<float, Arch> plane(const bytes& pixels, std::index_sequence<I...>) {
    const auto picked = __builtin_shufflevector(pixels, pixels, (static_cast<int>(I * channels + Channel))...);
    std::uint8_t values[lanes];
    std::memcpy(values, &picked, sizeof values);
    return detail::load_as<float, Arch>(values);
  }
};

template <class Arch, class In, std::size_t Channels>
  requires op_takes<normalize_op<Channels>, In>
struct simd_kernel<Arch, In, normalize_op<Channels>> {
  static constexpr std::size_t scratch_bytes = 0;

  // (x * scale - mean) / deviation is one multiply-add.
  simd_kernel(const normalize_op<Channels>& op, parameter_values) {
    for (std::size_t c = 0; c < Channels; ++c) {
      factor_[c] = op.scale / op.deviation[c];
      offset_[c] = -op.mean[c] / op.deviation[c];
    }
  }

  void operator()(const In& in, with_element_t<float, In>& out, std::byte*) const {
    using namespace detail;
    constexpr std::size_t plane = In::elements / Channels;
    for (std::size_t c = 0; c < Channels; ++c) {
      const vector<float, Arch> factor(factor_[c]), offset(offset_[c]);
      const auto* from = in.data() + c * plane;
      float* to = out.data() + c * plane;
      std::size_t i = 0;
      for (; i + lanes_in<float, Arch> <= plane; i += lanes_in<float, Arch>)
        multiply_add(load_as<float, Arch>(from + i), factor, offset).store_unaligned(to + i);
      for (; i < plane; ++i) to[i] = static_cast<float>(from[i]) * factor_[c] + offset_[c];
    }
  }

 private:
  std::array<float, Channels> factor_, offset_;
};

/// Bilinear: the two source rows are mixed over their whole width, then the columns are picked and mixed.
template <class Arch, class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<resize_op<Height, Width, Mode, Layout>, In>
struct simd_kernel<Arch, In, resize_op<Height, Width, Mode, Layout>> {
  using op_type = resize_op<Height, Width, Mode, Layout>;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;

 private:
  using from = picture<In, Layout>;
  using to = picture<out_type, Layout>;
  // A row of planes has one value a column, an interleaved row all channels.
  static constexpr std::size_t planes = Layout == layout::chw ? from::channels : 1;
  static constexpr std::size_t depth = from::channels / planes;
  static constexpr std::size_t row_in = from::width * depth, row_out = Width * depth;

 public:
  static constexpr std::size_t scratch_bytes =
      Mode == resize_mode::nearest ? 0 : detail::round_up(row_in * sizeof(float), 64);

  simd_kernel(const op_type&, parameter_values) {
    for (std::size_t x = 0; x < Width; ++x) {
      const resize_tap tap = bilinear_tap(x, from::width, Width);
      const std::size_t nearest = nearest_tap(x, from::width, Width);
      for (std::size_t c = 0; c < depth; ++c) {
        const bool pick = Mode == resize_mode::nearest;
        first_[x * depth + c] = static_cast<std::int32_t>((pick ? nearest : tap.first) * depth + c);
        if constexpr (Mode == resize_mode::bilinear) {
          second_[x * depth + c] = static_cast<std::int32_t>(tap.second * depth + c);
          fraction_[x * depth + c] = tap.fraction;
        }
      }
    }
  }

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    for (std::size_t p = 0; p < planes; ++p)
      for (std::size_t y = 0; y < Height; ++y) {
        const value* plane = in.data() + p * from::height * row_in;
        value* target = out.data() + (p * Height + y) * row_out;
        if constexpr (Mode == resize_mode::nearest) {
          const value* source = plane + nearest_tap(y, from::height, Height) * row_in;
          for (std::size_t x = 0; x < row_out; ++x) target[x] = source[first_[x]];
        } else {
          const resize_tap tap = bilinear_tap(y, from::height, Height);
          float* mixed = reinterpret_cast<float*>(scratch);
          mix_rows(plane + tap.first * row_in, plane + tap.second * row_in, tap.fraction, mixed);
          mix_columns(mixed, target);
        }
      }
  }

 private:
  static constexpr std::size_t lanes = detail::lanes_in<float, Arch>;

  static void mix_rows(const value* a, const value* b, float fraction, float* mixed) {
    using namespace detail;
    const vector<float, Arch> f(fraction);
    std::size_t x = 0;
    for (; x + lanes <= row_in; x += lanes) {
      const auto u = load_as<float, Arch>(a + x), v = load_as<float, Arch>(b + x);
      multiply_add(v - u, f, u).store_unaligned(mixed + x);
    }
    if constexpr (row_in % lanes != 0)
      for (; x < row_in; ++x) {
        const float u = static_cast<float>(a[x]), v = static_cast<float>(b[x]);
        mixed[x] = u + (v - u) * fraction;
      }
  }

  void mix_columns(const float* mixed, value* target) const {
    using namespace detail;
    using indices = vector<std::int32_t, Arch>;
    constexpr float half_up = std::is_integral_v<value> ? 0.5f : 0.0f;
    std::size_t x = 0;
    for (; x + lanes <= row_out; x += lanes) {
      const auto u = vector<float, Arch>::gather(mixed, indices::load_unaligned(first_.data() + x));
      const auto v = vector<float, Arch>::gather(mixed, indices::load_unaligned(second_.data() + x));
      store_as(target + x,
               multiply_add(v - u, load<float, Arch>(fraction_.data() + x), u) + vector<float, Arch>(half_up));
    }
    if constexpr (row_out % lanes != 0)
      for (; x < row_out; ++x) {
        const float u = mixed[first_[x]], v = mixed[second_[x]];
        target[x] = static_cast<value>(u + (v - u) * fraction_[x] + half_up);
      }
  }

  std::array<std::int32_t, row_out> first_{};
  std::array<std::int32_t, Mode == resize_mode::bilinear ? row_out : 0> second_{};
  std::array<float, Mode == resize_mode::bilinear ? row_out : 0> fraction_{};
};

}  // namespace levada
