// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/integers.hpp: the ops of nn/integers.hpp as their definitions.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <levada/backend/detail/definition.hpp>
#include <levada/core/detail/wrapping.hpp>
#include <levada/nn/integers.hpp>

namespace levada {

namespace detail {

/// The scale and the zero point of each index of an axis.
template <class T>
struct axis_numbers {
  std::vector<float> scale;
  std::vector<T> zero_point;

  axis_numbers(parameter_values p, std::size_t extent)
      : scale(p.get<float>(0), p.get<float>(0) + extent), zero_point(p.get<T>(1), p.get<T>(1) + extent) {}
};

/// Calls `f(place in the output, sum)` for each element of a product of integers.
template <class A, class B, class F>
void multiply_integers(const A& a, int a_zero_point, const B& b, int b_zero_point, F f) {
  using s = matmul_shapes<A, B>;
  std::size_t to = 0;
  for (std::size_t batch = 0; batch < s::batch.elements(); ++batch) {
    const auto* left = a.data() + s::matrix_at(s::left, batch) * s::rows * s::inner;
    const auto* right = b.data() + s::matrix_at(s::right, batch) * s::inner * s::columns;
    for (std::size_t y = 0; y < s::rows; ++y)
      for (std::size_t x = 0; x < s::columns; ++x) {
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < s::inner; ++k)
          sum = wrapping_sum(sum, (left[y * s::inner + k] - a_zero_point) * (right[k * s::columns + x] - b_zero_point));
        f(to++, sum);
      }
  }
}

}  // namespace detail

template <class Backend, class In, class To, std::ptrdiff_t Axis>
  requires op_takes<quantize_along_op<To, Axis>, In>
struct definition<Backend, In, quantize_along_op<To, Axis>> {
  using around = detail::around_axis<In, Axis>;
  static constexpr std::size_t scratch_bytes = 0;

  definition(const quantize_along_op<To, Axis>&, parameter_values p) : to_(p, around::length) {}

  void operator()(const In& in, with_element_t<To, In>& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) {
      const std::size_t c = i / around::inner % around::length;
      out[i] = detail::quantized_steps<To>(in[i] / to_.scale[c], to_.zero_point[c]);
    }
  }

 private:
  detail::axis_numbers<To> to_;
};

template <class Backend, class In, std::ptrdiff_t Axis>
  requires op_takes<dequantize_along_op<Axis>, In>
struct definition<Backend, In, dequantize_along_op<Axis>> {
  using around = detail::around_axis<In, Axis>;
  static constexpr std::size_t scratch_bytes = 0;

  definition(const dequantize_along_op<Axis>&, parameter_values p) : from_(p, around::length) {}

  void operator()(const In& in, with_element_t<float, In>& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) {
      const std::size_t c = i / around::inner % around::length;
      out[i] = static_cast<float>(std::int64_t{in[i]} - from_.zero_point[c]) * from_.scale[c];
    }
  }

 private:
  detail::axis_numbers<typename In::value_type> from_;
};

template <class Backend, class In>
  requires op_takes<dynamic_quantize_op, In>
struct definition<Backend, In, dynamic_quantize_op> : detail::plain_definition<dynamic_quantize_op> {
  using detail::plain_definition<dynamic_quantize_op>::plain_definition;

  void operator()(const In& in, dynamic_quantize_op::output<In>& out, std::byte*) const {
    float low = 0, high = 0;
    for (const float x : in) low = std::min(low, x), high = std::max(high, x);
    const float scale = high > low ? (high - low) / 255 : 1.0f;
    const auto zero_point = detail::quantized_steps<std::uint8_t>(-low / scale, 0);
    std::get<1>(out)[0] = scale;
    std::get<2>(out)[0] = zero_point;
    for (std::size_t i = 0; i < In::elements; ++i)
      std::get<0>(out)[i] = detail::quantized_steps<std::uint8_t>(in[i] / scale, zero_point);
  }
};

template <class Backend, class A, class B>
  requires op_takes<matmul_integer_op, std::tuple<A, B>>
struct definition<Backend, std::tuple<A, B>, matmul_integer_op> {
  static constexpr std::size_t scratch_bytes = 0;

  definition(const matmul_integer_op& op, parameter_values) : op_(op) {}

  void operator()(const auto& in, auto& out, std::byte*) const {
    detail::multiply_integers(std::get<0>(in), op_.a_zero_point, std::get<1>(in), op_.b_zero_point,
                              [&](std::size_t to, std::int32_t sum) { out[to] = sum; });
  }

 private:
  matmul_integer_op op_;
};

template <class Backend, class A, class B, class To>
  requires op_takes<qlinear_matmul_op<To>, std::tuple<A, B>>
struct definition<Backend, std::tuple<A, B>, qlinear_matmul_op<To>> {
  static constexpr std::size_t scratch_bytes = 0;

  definition(const qlinear_matmul_op<To>& op, parameter_values) : op_(op) {}

  void operator()(const auto& in, auto& out, std::byte*) const {
    const float factor = op_.a.scale * op_.b.scale / op_.y.scale;
    detail::multiply_integers(
        std::get<0>(in), op_.a.zero_point, std::get<1>(in), op_.b.zero_point, [&](std::size_t to, std::int32_t sum) {
          out[to] = detail::quantized_steps<To>(static_cast<float>(sum) * factor, op_.y.zero_point);
        });
  }

 private:
  qlinear_matmul_op<To> op_;
};

template <class Backend, class A, class B, class To>
  requires op_takes<qlinear_add_op<To>, std::tuple<A, B>>
struct definition<Backend, std::tuple<A, B>, qlinear_add_op<To>> {
  static constexpr std::size_t scratch_bytes = 0;

  definition(const qlinear_add_op<To>& op, parameter_values) : op_(op) {}

  void operator()(const auto& in, auto& out, std::byte*) const {
    const int lowest = detail::lowest_of<To>(op_.y, op_.relu);
    for (std::size_t i = 0; i < A::elements; ++i) {
      const float sum = number(std::get<0>(in)[i], op_.a) + number(std::get<1>(in)[i], op_.b);
      out[i] = detail::quantized_steps<To>(sum / op_.y.scale, op_.y.zero_point, lowest);
    }
  }

 private:
  /// No number is beyond the bound: it keeps the product from being rounded together with the sum, so that all backends
  /// give the same.
  static float number(int integer, const quantization& of) {
    return std::min(static_cast<float>(integer - of.zero_point) * of.scale, std::numeric_limits<float>::max());
  }

  qlinear_add_op<To> op_;
};

template <class Backend, class In, std::size_t Filters, class Weight, class... Options>
  requires op_takes<conv_integer2d_op<Filters, Weight, Options...>, In>
struct definition<Backend, In, conv_integer2d_op<Filters, Weight, Options...>> {
  using op_type = conv_integer2d_op<Filters, Weight, Options...>;
  using out_type = typename op_type::template output<In>;

  static constexpr std::size_t scratch_bytes = 0;
  static constexpr std::size_t weights = op_type::template parameters<In>[0].extents.elements();
  static constexpr std::size_t weight_bytes = weights * sizeof(Weight);

  definition(const op_type& op, parameter_values p) : op_(op), weight_(p.get<Weight>(0), p.get<Weight>(0) + weights) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    for (std::size_t f = 0; f < Filters; ++f)
      for (std::size_t y = 0; y < out_type::extents[1]; ++y)
        for (std::size_t x = 0; x < out_type::extents[2]; ++x) out(f, y, x) = sum_at(in, f, y, x);
  }

 private:
  static constexpr window2d w = op_type::window;
  static constexpr std::size_t group_channels = In::extents[0] / op_type::groups;

  std::int32_t sum_at(const In& in, std::size_t f, std::size_t y, std::size_t x) const {
    const std::size_t first_channel = f / (Filters / op_type::groups) * group_channels;
    std::int32_t sum = 0;
    for (std::size_t c = 0; c < group_channels; ++c)
      detail::for_each_place(
          w, In::extents[1], In::extents[2], y, x, [&](std::size_t row, std::size_t column, std::size_t place) {
            const Weight weight = weight_[(f * group_channels + c) * w.height * w.width + place];
            sum = detail::wrapping_sum(
                sum, (in(first_channel + c, row, column) - op_.x_zero_point) * (weight - op_.weight_zero_point));
          });
    return sum;
  }

  op_type op_;
  std::vector<Weight> weight_;
};

}  // namespace levada
