// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/norms.hpp: norms and log_softmax as their definitions.

#include <algorithm>
#include <cmath>

#include <levada/backend/detail/definition.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/norm.hpp>

namespace levada {

template <class Backend, class In>
  requires op_takes<batch_norm_op, In>
struct definition<Backend, In, batch_norm_op> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const batch_norm_op& op, parameter_values p) : epsilon_(static_cast<value>(op.epsilon)) {
    for (std::size_t i = 0; i < 4; ++i) std::copy_n(p.get<value>(i), channels, parameters_[i].begin());
  }

  void operator()(const In& in, In& out, std::byte*) const {
    const auto& [scale, bias, mean, variance] = parameters_;
    for (std::size_t i = 0; i < In::elements; ++i) {
      const std::size_t c = i / (In::elements / channels);
      out[i] = (in[i] - mean[c]) / std::sqrt(variance[c] + epsilon_) * scale[c] + bias[c];
    }
  }

 private:
  static constexpr std::size_t channels = In::extents[0];

  value epsilon_;
  tensor<value, channels> parameters_[4];
};

namespace detail {

/// `length` elements with their mean and variance taken out.
template <class Backend, class T>
void normalise(const T* in, T* out, std::size_t length, T epsilon) {
  T mean = 0, variance = 0;
  for (std::size_t i = 0; i < length; ++i) mean += in[i];
  mean /= static_cast<T>(length);
  for (std::size_t i = 0; i < length; ++i) variance += (in[i] - mean) * (in[i] - mean);
  variance /= static_cast<T>(length);
  for (std::size_t i = 0; i < length; ++i) out[i] = (in[i] - mean) / std::sqrt(variance + epsilon);
}

/// Rows normalised, then scaled: element i of row r by parameter `r % Parameters` (one a row) or i (one an element).
template <class Backend, class In, class Op>
struct define_row_norm {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;
  static constexpr std::size_t row = Op::template normalised_row<In>;
  static constexpr std::size_t parameters = Op::template parameters<In>[0].extents.elements();
  static constexpr bool one_a_row = std::same_as<Op, instance_norm_op>;

  define_row_norm(const Op& op, parameter_values p) : epsilon_(static_cast<value>(op.epsilon)) {
    std::copy_n(p.get<value>(0), parameters, scale_.begin());
    std::copy_n(p.get<value>(1), parameters, bias_.begin());
  }

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t r = 0; r < In::elements / row; ++r) {
      normalise<Backend>(in.data() + r * row, out.data() + r * row, row, epsilon_);
      for (std::size_t i = 0; i < row; ++i) {
        value& y = out[r * row + i];
        y = y * scale_[one_a_row ? r : i] + bias_[one_a_row ? r : i];
      }
    }
  }

 private:
  value epsilon_;
  tensor<value, parameters> scale_, bias_;
};

}  // namespace detail

template <class Backend, class In, class Op>
  requires op_takes<Op, In> && requires { Op::template normalised_row<In>; }
struct definition<Backend, In, Op> : detail::define_row_norm<Backend, In, Op> {
  using definition::define_row_norm::define_row_norm;
};

template <class Backend, class In>
  requires op_takes<log_softmax_op, In>
struct definition<Backend, In, log_softmax_op> : detail::plain_definition<log_softmax_op> {
  using detail::plain_definition<log_softmax_op>::plain_definition;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    detail::for_each_last_row(in, [&](std::size_t first, std::size_t end, value largest) {
      value sum = 0;
      for (std::size_t i = first; i < end; ++i) sum += std::exp(in[i] - largest);
      for (std::size_t i = first; i < end; ++i) out[i] = in[i] - largest - std::log(sum);
    });
  }
};

}  // namespace levada
