// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/qlinear_dense.hpp: qlinear_dense, quads (quads.hpp) of inputs in the lanes, several outputs at a
// time; a flatten before it only renames axes.

#include <cstring>
#include <memory>

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/quads.hpp>
#include <levada/nn/reshape.hpp>

namespace levada {

namespace detail {

template <class Arch, class In, class Op>
class simd_qlinear_dense {
  using byte = typename In::value_type;
  using weights = quantized_weights<simd_on<Arch>, tensor<byte, In::elements>, Op>;
  using epilogue = qlinear_epilogue<Arch, Op>;
  using vec = vector<std::int32_t, Arch>;
  static constexpr std::size_t lanes = lanes_in<std::int32_t, Arch>, inputs = In::elements, outputs = Op::outputs;
  // Rows are padded with zero weights to whole vectors.
  static constexpr std::size_t step = 4 * lanes, pitch = round_up(inputs, step), rest = inputs % step;
  static constexpr std::size_t tile = outputs % 5 == 0 ? 5 : std::min<std::size_t>(outputs, 8);

 public:
  static constexpr std::size_t scratch_bytes = round_up(round_up(outputs, lanes) * sizeof(std::int32_t), 64);

  simd_qlinear_dense(const Op& op, const parameter_values& p)
      : simd_qlinear_dense(op, std::make_unique<const weights>(op, p)) {}

  void operator()(const In& in, tensor<typename Op::result_type, outputs>& out, std::byte* scratch) const {
    auto* const sums = reinterpret_cast<std::int32_t*>(scratch);
    constexpr std::size_t whole = outputs / tile * tile;
    for (std::size_t o = 0; o < whole; o += tile) sum_outputs<tile>(in.data(), sums, o);
    if constexpr (whole != outputs) sum_outputs<outputs - whole>(in.data(), sums, whole);

    auto* const to = reinterpret_cast<typename epilogue::written*>(out.data());
    for_each_vector<std::int32_t, Arch, outputs>(
        [&](std::size_t o) { store_part_as<lanes>(to + o, epilogue_.of_filters(vec::load_aligned(sums + o), o)); },
        [&](std::size_t o, auto n) { store_part_as<n>(to + o, epilogue_.of_filters(vec::load_aligned(sums + o), o)); });
  }

 private:
  simd_qlinear_dense(const Op& op, const std::unique_ptr<const weights>& packed) : epilogue_(op, *packed) {
    const int zero_point = quad_zero_point<byte>(op.numbers);
    for (std::size_t o = 0; o < outputs; ++o) {
      const std::int8_t* const row = packed->weight.data() + o * inputs;
      std::memcpy(weight_.data() + o * pitch, row, inputs);
      // sum (x - zero_point) w = sum x w - zero_point sum w
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += row[i];
      bias_[o] = packed->bias[o] - zero_point * sum;
    }
  }

  template <std::size_t N>
  void sum_outputs(const byte* in, std::int32_t* to, std::size_t first) const {
    const std::int8_t* const weight = weight_.data() + first * pitch;
    vec sums[N];
    unrolled<N>([&](std::size_t n) LEVADA_INLINE { sums[n] = vec(0); });
    const auto add = [&](std::size_t at, const byte* from) LEVADA_INLINE {
      const vec x = load_quads(from) ^ vec(quad_sign<byte>);
      unrolled<N>([&](std::size_t n) LEVADA_INLINE {
        sums[n] = add_quad_products<Arch>(x, load_quads(weight + n * pitch + at), sums[n]);
      });
    };
    for (std::size_t i = 0; i + step <= inputs; i += step) add(i, in + i);
    if constexpr (rest != 0) {
      alignas(Arch::alignment()) byte last[step]{};
      std::memcpy(last, in + (inputs - rest), rest);
      add(inputs - rest, last);
    }
    unrolled<N>([&](std::size_t n) LEVADA_INLINE { to[first + n] = sum_of(sums[n]) + bias_[first + n]; });
  }

  /// Four bytes to a lane. (Vector loads may read any type.)
  template <class Byte>
  LEVADA_INLINE static vec load_quads(const Byte* from) {
    return load<std::int32_t, Arch>(reinterpret_cast<const std::int32_t*>(from));
  }

  tensor<std::int8_t, outputs * pitch> weight_{};
  tensor<std::int32_t, outputs> bias_;
  epilogue epilogue_;
};

template <class In, class Op>
concept qlinear_dense_run = op_takes<Op, In> && !std::same_as<typename Op::weight_type, std::uint8_t>;

}  // namespace detail

template <class Arch, class In, std::size_t Outputs, class To, class Weight, class... Options>
  requires detail::qlinear_dense_run<In, qlinear_dense_op<Outputs, To, Weight, Options...>>
struct simd_kernel<Arch, In, qlinear_dense_op<Outputs, To, Weight, Options...>>
    : detail::simd_qlinear_dense<Arch, In, qlinear_dense_op<Outputs, To, Weight, Options...>> {
  using detail::simd_qlinear_dense<Arch, In, qlinear_dense_op<Outputs, To, Weight, Options...>>::simd_qlinear_dense;
};

template <class Arch, class In, std::size_t Outputs, class To, class Weight, class... Options>
  requires detail::qlinear_dense_run<flatten_op::output<In>, qlinear_dense_op<Outputs, To, Weight, Options...>>
struct simd_kernel<Arch, In, flatten_op, qlinear_dense_op<Outputs, To, Weight, Options...>>
    : detail::simd_qlinear_dense<Arch, In, qlinear_dense_op<Outputs, To, Weight, Options...>> {
  using op_type = qlinear_dense_op<Outputs, To, Weight, Options...>;

  simd_kernel(const flatten_op&, const op_type& op, const parameter_values& p)
      : detail::simd_qlinear_dense<Arch, In, op_type>(op, p) {}
};

}  // namespace levada
