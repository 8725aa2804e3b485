// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/dense.hpp: the fully connected layer and the bias as their definitions.

#include <algorithm>

#include <levada/backend/reference/detail/kernel.hpp>
#include <levada/nn/bias.hpp>
#include <levada/nn/dense.hpp>

namespace levada {

template <class In, std::size_t Outputs, class... Options>
  requires op_takes<dense_op<Outputs, Options...>, In>
struct reference_kernel<In, dense_op<Outputs, Options...>> {
  using op_type = dense_op<Outputs, Options...>;
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  reference_kernel(const op_type&, parameter_values p) {
    std::copy_n(p.get<value>(0), weight_.size(), weight_.begin());
    if constexpr (op_type::has_bias) std::copy_n(p.get<value>(1), Outputs, bias_.begin());
  }

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte*) const {
    for (std::size_t row = 0; row < In::elements / inputs; ++row)
      for (std::size_t o = 0; o < Outputs; ++o) {
        value& to = out[row * Outputs + o];
        to = bias_[o];
        for (std::size_t i = 0; i < inputs; ++i) to += weight_[o * inputs + i] * in[row * inputs + i];
      }
  }

 private:
  static constexpr std::size_t inputs = In::extents[In::rank - 1];

  tensor<value, Outputs * inputs> weight_;
  tensor<value, Outputs> bias_{};
};

template <class In>
  requires op_takes<bias_op, In>
struct reference_kernel<In, bias_op> {
  using value = typename In::value_type;

  static constexpr std::size_t scratch_bytes = 0;

  reference_kernel(const bias_op&, parameter_values p) { std::copy_n(p.get<value>(0), bias_.size(), bias_.begin()); }

  void operator()(const In& in, In& out, std::byte*) const {
    constexpr std::size_t channel_size = In::elements / In::extents[0];
    for (std::size_t i = 0; i < In::elements; ++i) out[i] = in[i] + bias_[i / channel_size];
  }

 private:
  tensor<value, In::extents[0]> bias_;
};

}  // namespace levada
