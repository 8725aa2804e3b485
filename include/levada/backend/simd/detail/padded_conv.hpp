// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/padded_conv.hpp: zeros around a picture and the convolution that takes it as one kernel: they
// become the convolution's own padding, and the padded picture is never written.

#include <cstddef>

#include <levada/backend/detail/padded_conv.hpp>
#include <levada/backend/simd/detail/conv2d.hpp>

namespace levada {

template <class Arch, class In, std::ptrdiff_t... Sides, std::size_t Filters, class... Options, class... Tail>
  requires requires {
    sizeof(
        simd_kernel<Arch, In, detail::padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>,
                    Tail...>);
  }
struct simd_kernel<Arch, In, pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>, Tail...>
    : simd_kernel<Arch, In, detail::padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>,
                  Tail...> {
  using conv = detail::padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>;

  simd_kernel(const pad_op<pad_mode::zeros, Sides...>&, const conv2d_op<Filters, Options...>&, const Tail&... tail,
              parameter_values p)
      : simd_kernel<Arch, In, conv, Tail...>(conv(), tail..., p) {}
};

}  // namespace levada
