// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/conv1d.hpp: convolution along one axis, as that of a picture of one row.

#include <levada/backend/spirv/detail/conv2d.hpp>
#include <levada/nn/conv1d.hpp>

namespace levada {

template <class In, std::size_t Filters, class... Options, class... End>
  requires detail::device_conv_run<In, conv1d_op<Filters, Options...>, End...>
struct spirv_kernel<In, conv1d_op<Filters, Options...>, End...>
    : detail::conv_kernel<In, conv1d_op<Filters, Options...>, End...> {
  using op_type = conv1d_op<Filters, Options...>;

  spirv_kernel(const op_type&, const End&... end, parameter_values p) {
    this->add(p.template get<float>(0), op_type::has_bias ? p.template get<float>(1) : nullptr, end...);
  }
};

}  // namespace levada
