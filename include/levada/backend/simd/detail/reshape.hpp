// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/reshape.hpp: flatten, reshape and crop, which only move bytes.

#include <cstring>

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/image/crop.hpp>
#include <levada/nn/reshape.hpp>

namespace levada {

template <class Arch, class In>
  requires op_takes<flatten_op, In>
struct simd_kernel<Arch, In, flatten_op> : detail::plain_simd_kernel<Arch, flatten_op> {
  using detail::plain_simd_kernel<Arch, flatten_op>::plain_simd_kernel;

  void operator()(const In& in, flatten_op::output<In>& out, std::byte*) const {
    detail::move_elements(in.data(), out.data(), In::elements);
  }
};

template <class Arch, class In, std::size_t... Dims>
  requires op_takes<reshape_op<Dims...>, In>
struct simd_kernel<Arch, In, reshape_op<Dims...>> : detail::plain_simd_kernel<Arch, reshape_op<Dims...>> {
  using detail::plain_simd_kernel<Arch, reshape_op<Dims...>>::plain_simd_kernel;

  void operator()(const In& in, typename reshape_op<Dims...>::template output<In>& out, std::byte*) const {
    detail::move_elements(in.data(), out.data(), In::elements);
  }
};

template <class Arch, class In, std::size_t Y, std::size_t X, std::size_t Height, std::size_t Width, layout Layout>
  requires op_takes<crop_op<Y, X, Height, Width, Layout>, In>
struct simd_kernel<Arch, In, crop_op<Y, X, Height, Width, Layout>>
    : detail::plain_simd_kernel<Arch, crop_op<Y, X, Height, Width, Layout>> {
  using detail::plain_simd_kernel<Arch, crop_op<Y, X, Height, Width, Layout>>::plain_simd_kernel;
  using out_type = typename crop_op<Y, X, Height, Width, Layout>::template output<In>;
  using from = picture<In, Layout>;
  using to = picture<out_type, Layout>;

  void operator()(const In& in, out_type& out, std::byte*) const {
    constexpr bool planes = Layout == layout::chw;
    constexpr std::size_t row = Width * (planes ? 1 : from::channels);
    for (std::size_t c = 0; c < (planes ? from::channels : 1); ++c)
      for (std::size_t y = 0; y < Height; ++y)
        std::memcpy(out.data() + to::at(c, y, 0), in.data() + from::at(c, y + Y, X), row * sizeof(*out.values));
  }
};

}  // namespace levada
