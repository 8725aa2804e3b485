// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/quantized.hpp: the ops of quantized numbers as their definitions. Sums are exact, so that every
// backend gives the same integers; beyond int32 they wrap around, as vectors do.

#include <cstdint>

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/detail/quantized_weights.hpp>
#include <levada/core/detail/wrapping.hpp>
#include <levada/nn/quantized.hpp>

namespace levada {

template <class Backend, class In, class To, class Region>
  requires op_takes<quantize_linear_op<To, Region>, In>
struct definition<Backend, In, quantize_linear_op<To, Region>> {
  static constexpr std::size_t scratch_bytes = 0;

  definition(const quantize_linear_op<To, Region>& op, parameter_values) : to_(op.to) {}

  void operator()(const In& in, with_element_t<To, In>& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i)
      out[i] = detail::quantized_steps<To>(in[i] / to_.scale, to_.zero_point);
  }

 private:
  quantization to_;
};

template <class Backend, class In>
  requires op_takes<dequantize_linear_op, In>
struct definition<Backend, In, dequantize_linear_op> {
  static constexpr std::size_t scratch_bytes = 0;

  definition(const dequantize_linear_op& op, parameter_values) : from_(op.from) {}

  void operator()(const In& in, with_element_t<float, In>& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i)
      out[i] = static_cast<float>(std::int64_t{in[i]} - from_.zero_point) * from_.scale;
  }

 private:
  quantization from_;
};

namespace detail {

/// The weights and the numbers of an op that sums integers.
template <class Backend, class In, class Op>
struct define_qlinear {
  static constexpr std::size_t scratch_bytes = 0;

  define_qlinear(const Op& op, parameter_values p) : weights(op, p), numbers(op.numbers) {}

  typename Op::result_type finish(std::int32_t sum, std::size_t output) const {
    return qlinear_finish<Backend, Op>::of(sum, weights.factor[output], numbers);
  }
  std::int32_t product(typename In::value_type x, std::size_t weight) const {
    return (x - numbers.x.zero_point) * (weights.weight[weight] - weights.zero_point);
  }

  quantized_weights<Backend, In, Op> weights;
  qlinear_numbers numbers;
};

}  // namespace detail

template <class Backend, class In, std::size_t Filters, class To, class Weight, class... Options>
  requires op_takes<qlinear_conv2d_op<Filters, To, Weight, Options...>, In>
struct definition<Backend, In, qlinear_conv2d_op<Filters, To, Weight, Options...>>
    : detail::define_qlinear<Backend, In, qlinear_conv2d_op<Filters, To, Weight, Options...>> {
  using op_type = qlinear_conv2d_op<Filters, To, Weight, Options...>;
  using detail::define_qlinear<Backend, In, op_type>::define_qlinear;
  using out_type = typename op_type::template output<In>;

  void operator()(const In& in, out_type& out, std::byte*) const {
    To* to = out.data();
    for (std::size_t f = 0; f < Filters; ++f)
      for (std::size_t y = 0; y < out_type::extents[1]; ++y)
        for (std::size_t x = 0; x < out_type::extents[2]; ++x) *to++ = this->finish(sum_at(in, f, y, x), f);
  }

 private:
  static constexpr window2d w = op_type::window;
  static constexpr std::size_t group_channels = In::extents[0] / op_type::groups;

  std::int32_t sum_at(const In& in, std::size_t f, std::size_t y, std::size_t x) const {
    const std::size_t first_channel = f / (Filters / op_type::groups) * group_channels;
    std::int32_t sum = this->weights.bias[f];
    for (std::size_t c = 0; c < group_channels; ++c)
      detail::for_each_place(
          w, In::extents[1], In::extents[2], y, x, [&](std::size_t row, std::size_t column, std::size_t place) {
            sum = detail::wrapping_sum(sum, this->product(in(first_channel + c, row, column),
                                                          (f * group_channels + c) * w.height * w.width + place));
          });
    return sum;
  }
};

template <class Backend, class In, std::size_t Outputs, class To, class Weight, class... Options>
  requires op_takes<qlinear_dense_op<Outputs, To, Weight, Options...>, In>
struct definition<Backend, In, qlinear_dense_op<Outputs, To, Weight, Options...>>
    : detail::define_qlinear<Backend, In, qlinear_dense_op<Outputs, To, Weight, Options...>> {
  using detail::define_qlinear<Backend, In, qlinear_dense_op<Outputs, To, Weight, Options...>>::define_qlinear;

  void operator()(const In& in, tensor<To, Outputs>& out, std::byte*) const {
    for (std::size_t o = 0; o < Outputs; ++o) {
      std::int32_t sum = this->weights.bias[o];
      for (std::size_t i = 0; i < In::elements; ++i)
        sum = detail::wrapping_sum(sum, this->product(in[i], o * In::elements + i));
      out[o] = this->finish(sum, o);
    }
  }
};

}  // namespace levada
