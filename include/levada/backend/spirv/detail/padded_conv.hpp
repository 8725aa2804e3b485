// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/padded_conv.hpp: zeros around a picture and the convolution that takes it as one kernel, alone
// and at the head of a region.

#include <cstddef>

#include <levada/backend/detail/padded_conv.hpp>
#include <levada/backend/spirv/detail/conv_norm.hpp>
#include <levada/backend/spirv/detail/joined_region.hpp>

namespace levada {

template <class In, std::ptrdiff_t... Sides, std::size_t Filters, class... Options, class... Tail>
  requires requires {
    sizeof(spirv_kernel<In, detail::padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>,
                        Tail...>);
  }
struct spirv_kernel<In, pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>, Tail...>
    : spirv_kernel<In, detail::padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>,
                   Tail...> {
  using conv = detail::padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>;

  spirv_kernel(const pad_op<pad_mode::zeros, Sides...>&, const conv2d_op<Filters, Options...>&, const Tail&... tail,
               parameter_values p)
      : spirv_kernel<In, conv, Tail...>(conv(), tail..., p) {}
};

namespace detail {

template <std::ptrdiff_t... Sides, class In, std::size_t Picture, std::size_t Filters, class... Options, class Padded,
          std::size_t From, class... Rest>
  requires requires {
    sizeof(joined_head<
           region_op<padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>, In, Picture>,
           Rest...>);
  }
struct joined_head<region_op<pad_op<pad_mode::zeros, Sides...>, In, Picture>,
                   region_op<conv2d_op<Filters, Options...>, Padded, From>, Rest...> {
  using conv = padded_more_t<pad_op<pad_mode::zeros, Sides...>, conv2d_op<Filters, Options...>>;
  using head = joined_head<region_op<conv, In, Picture>, Rest...>;
  using kernel = typename head::kernel;
  static constexpr std::size_t ops = head::ops + 1, buffers = head::buffers;

  static void add(auto& to, const auto& end, const auto& which, parameter_values p,
                  const pad_op<pad_mode::zeros, Sides...>&, const conv2d_op<Filters, Options...>&,
                  const auto&... rest) {
    head::add(to, end, which, p, conv(), rest...);
  }
};

}  // namespace detail
}  // namespace levada
