// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/conv2d.hpp: convolution as its definition.

#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/reference/detail/kernel.hpp>

namespace levada {

template <class In, std::size_t Filters, class... Options>
  requires op_takes<conv2d_op<Filters, Options...>, In>
struct reference_kernel<In, conv2d_op<Filters, Options...>>
    : detail::define_convolution<reference, In, conv2d_op<Filters, Options...>, In::extents[1], In::extents[2]> {
  using detail::define_convolution<reference, In, conv2d_op<Filters, Options...>, In::extents[1],
                                   In::extents[2]>::define_convolution;
};

}  // namespace levada
