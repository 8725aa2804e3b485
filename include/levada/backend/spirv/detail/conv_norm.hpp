// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/conv_norm.hpp: a batch_norm or bias behind a convolution, folded into its weights.

#include <vector>

#include <levada/backend/spirv/detail/conv2d.hpp>
#include <levada/backend/spirv/detail/norm.hpp>

namespace levada {

namespace detail {

/// The weights of a convolution with what is folded into them.
template <class Op, class Weight, std::size_t Filters>
struct normed_weights {
  static constexpr std::size_t of_filter = Weight::elements / Filters;

  std::vector<float> weight, bias;

  template <class Folded>
  normed_weights(const Folded& folded, parameter_values p)
      : weight(p.template get<float>(0), p.template get<float>(0) + Weight::elements), bias(Filters) {
    const channel_line<Filters> line(folded, p, Op::has_bias ? 2 : 1);
    for (std::size_t f = 0; f < Filters; ++f) {
      for (std::size_t i = 0; i < of_filter; ++i) weight[f * of_filter + i] *= line.factor[f];
      bias[f] = line.offset[f];
      if constexpr (Op::has_bias) bias[f] += p.template get<float>(1)[f] * line.factor[f];
    }
  }
};

/// The op can be folded into the weights of a convolution of so many filters.
template <class Op, std::size_t Filters>
concept folds_into_conv = scales_channels<Op> && !std::same_as<Op, normalize_op<Filters>>;

}  // namespace detail

template <class In, std::size_t Filters, class... Options, class Folded, class... End>
  requires detail::folds_into_conv<Folded, Filters> &&
           detail::device_conv_run<In, conv2d_op<Filters, Options...>, End...>
struct spirv_kernel<In, conv2d_op<Filters, Options...>, Folded, End...>
    : detail::conv_kernel<In, conv2d_op<Filters, Options...>, End...> {
  using op_type = conv2d_op<Filters, Options...>;

  spirv_kernel(const op_type&, const Folded& folded, const End&... end, parameter_values p) {
    const detail::normed_weights<op_type, typename spirv_kernel::s::weight, Filters> made(folded, p);
    this->add(made.weight.data(), made.bias.data(), end...);
  }
};

}  // namespace levada
