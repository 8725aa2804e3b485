// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/bfloat16_dense.hpp: dense of bfloat16, pairs (bfloat16_pairs.hpp) of inputs in the lanes, several
// outputs at a time; a flatten before it only renames axes.

#include <algorithm>
#include <cstring>

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/simd/detail/bfloat16_pairs.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/nn/reshape.hpp>

namespace levada {

namespace detail {

template <class Arch, class In, class Op>
class simd_bfloat16_dense {
  using vec = vector<float, Arch>;
  static constexpr std::size_t lanes = lanes_in<float, Arch>, inputs = In::elements, outputs = Op::outputs;
  // Inputs and rows of weights are padded with zeros to whole vectors.
  static constexpr std::size_t step = 2 * lanes, pitch = round_up(inputs, step);
  static constexpr std::size_t tile = outputs % 5 == 0 ? 5 : std::min<std::size_t>(outputs, 8);
  static constexpr std::size_t in_bytes = round_up(pitch * sizeof(bfloat16), 64);

 public:
  static constexpr std::size_t scratch_bytes = in_bytes + round_up(outputs * sizeof(float), 64);

  simd_bfloat16_dense(const Op& op, const parameter_values& p) : range_(op.range) {
    for (std::size_t o = 0; o < outputs; ++o)
      for (std::size_t i = 0; i < inputs; ++i) weight_[o * pitch + i] = bfloat16(p.get<float>(0)[o * inputs + i]);
    if constexpr (Op::has_bias) std::copy_n(p.get<float>(1), outputs, bias_.begin());
  }

  void operator()(const In& in, tensor<typename Op::result_type, outputs>& out, std::byte* scratch) const {
    auto* const padded = reinterpret_cast<bfloat16*>(scratch);
    auto* const sums = reinterpret_cast<float*>(scratch + in_bytes);
    const bfloat16* const x = rounded(in.data(), padded);
    constexpr std::size_t whole = outputs / tile * tile;
    for (std::size_t o = 0; o < whole; o += tile) sum_outputs<tile>(x, sums, o);
    if constexpr (whole != outputs) sum_outputs<outputs - whole>(x, sums, whole);
    finish_sums<outputs, Arch>(sums, out.data(), range_);
  }

 private:
  /// The inputs as bfloat16, in whole vectors; where they are if they are that already.
  template <class T>
  static const bfloat16* rounded(const T* in, bfloat16* padded) {
    if constexpr (std::same_as<T, bfloat16> && pitch == inputs) {
      return in;
    } else {
      std::memset(static_cast<void*>(padded + inputs), 0, (pitch - inputs) * sizeof *padded);
      for_each_vector<float, Arch, inputs>(
          [&](std::size_t i) { store_rounded<lanes>(padded + i, load_rounded<lanes, Arch>(in + i)); },
          [&](std::size_t i, auto n) { store_rounded<n>(padded + i, load_rounded<n, Arch>(in + i)); });
      return padded;
    }
  }

  template <std::size_t N>
  void sum_outputs(const bfloat16* in, float* to, std::size_t first) const {
    const bfloat16* const weight = weight_.data() + first * pitch;
    vec sums[N];
    unrolled<N>([&](std::size_t n) LEVADA_INLINE { sums[n] = vec(0.0f); });
    for (std::size_t i = 0; i < pitch; i += step) {
      const vec x = load_pairs(in + i);
      unrolled<N>([&](std::size_t n) LEVADA_INLINE {
        sums[n] = add_pair_products<Arch>(x, load_pairs(weight + n * pitch + i), sums[n]);
      });
    }
    unrolled<N>([&](std::size_t n) LEVADA_INLINE { to[first + n] = sum_of(sums[n]) + bias_[first + n]; });
  }

  /// (Vector loads may read any type.)
  LEVADA_INLINE static vec load_pairs(const bfloat16* from) {
    return load<float, Arch>(reinterpret_cast<const float*>(from));
  }

  tensor<bfloat16, outputs * pitch> weight_{};
  tensor<float, outputs> bias_{};
  result_range range_;
};

}  // namespace detail

template <class Arch, class In, std::size_t Outputs, class To, class... Options>
  requires op_takes<bfloat16_dense_op<Outputs, To, Options...>, In>
struct simd_kernel<Arch, In, bfloat16_dense_op<Outputs, To, Options...>>
    : detail::simd_bfloat16_dense<Arch, In, bfloat16_dense_op<Outputs, To, Options...>> {
  using simd_kernel::simd_bfloat16_dense::simd_bfloat16_dense;
};

template <class Arch, class In, std::size_t Outputs, class To, class... Options>
  requires op_takes<bfloat16_dense_op<Outputs, To, Options...>, flatten_op::output<In>>
struct simd_kernel<Arch, In, flatten_op, bfloat16_dense_op<Outputs, To, Options...>>
    : detail::simd_bfloat16_dense<Arch, In, bfloat16_dense_op<Outputs, To, Options...>> {
  using op_type = bfloat16_dense_op<Outputs, To, Options...>;

  simd_kernel(const flatten_op&, const op_type& op, const parameter_values& p)
      : detail::simd_bfloat16_dense<Arch, In, op_type>(op, p) {}
};

}  // namespace levada
