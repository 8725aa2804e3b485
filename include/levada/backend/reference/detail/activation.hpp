// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/activation.hpp: relu and softmax as their definitions.

#include <cmath>

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/reference/detail/kernel.hpp>
#include <levada/nn/activation.hpp>

namespace levada {

template <class In>
  requires op_takes<relu_op, In>
struct reference_kernel<In, relu_op> : detail::plain_kernel<relu_op> {
  using detail::plain_kernel<relu_op>::plain_kernel;

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t i = 0; i < In::elements; ++i) out[i] = in[i] < 0 ? 0 : in[i];
  }
};

template <class In>
  requires op_takes<softmax_op, In>
struct reference_kernel<In, softmax_op> : detail::plain_kernel<softmax_op> {
  using detail::plain_kernel<softmax_op>::plain_kernel;
  using value = typename In::value_type;

  void operator()(const In& in, In& out, std::byte*) const {
    detail::for_each_last_row(in, [&](std::size_t first, std::size_t end, value largest) {
      value sum = 0;
      for (std::size_t i = first; i < end; ++i) sum += out[i] = std::exp(in[i] - largest);
      for (std::size_t i = first; i < end; ++i) out[i] /= sum;
    });
  }
};

}  // namespace levada
