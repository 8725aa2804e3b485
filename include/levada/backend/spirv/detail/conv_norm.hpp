// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/conv_norm.hpp: a batch_norm or bias behind a convolution, folded into its weights.

#include <vector>

#include <levada/backend/spirv/detail/conv2d.hpp>
#include <levada/backend/spirv/detail/norm.hpp>

namespace levada {

template <class In, std::size_t Filters, class... Options, class Folded, class... End>
  requires(detail::scales_channels<Folded> && !std::same_as<Folded, normalize_op<Filters>> &&
           detail::device_conv_run<In, conv2d_op<Filters, Options...>, End...>)
struct spirv_kernel<In, conv2d_op<Filters, Options...>, Folded, End...>
    : detail::conv_kernel<In, conv2d_op<Filters, Options...>, End...> {
  using op_type = conv2d_op<Filters, Options...>;

  spirv_kernel(const op_type&, const Folded& folded, const End&... end, parameter_values p) {
    const detail::channel_line<Filters> line(folded, p, op_type::has_bias ? 2 : 1);
    constexpr std::size_t of_filter = spirv_kernel::s::weight::elements / Filters;
    const float* const given = p.template get<float>(0);
    std::vector<float> weight(given, given + of_filter * Filters), bias(Filters);
    for (std::size_t f = 0; f < Filters; ++f) {
      for (std::size_t i = 0; i < of_filter; ++i) weight[f * of_filter + i] *= line.factor[f];
      bias[f] = line.offset[f];
      if constexpr (op_type::has_bias) bias[f] += p.template get<float>(1)[f] * line.factor[f];
    }
    this->add(weight.data(), bias.data(), end...);
  }
};

}  // namespace levada
