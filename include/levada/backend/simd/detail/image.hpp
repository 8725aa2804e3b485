// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/image.hpp: to_chw and normalize on vectors.

#include <array>
#include <cstdint>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/image/normalize.hpp>
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

}  // namespace levada
