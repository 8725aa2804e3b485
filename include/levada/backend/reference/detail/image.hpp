// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/reference/detail/image.hpp: the ops of pictures as their definitions; those of define/pictures.hpp among
// them.

#include <levada/backend/detail/define/pictures.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/reference/detail/kernel.hpp>
#include <levada/image/crop.hpp>
#include <levada/image/normalize.hpp>
#include <levada/image/to_chw.hpp>
#include <levada/image/to_rgb.hpp>

namespace levada {

template <class In>
  requires op_takes<to_chw_op, In>
struct reference_kernel<In, to_chw_op> : detail::plain_kernel<to_chw_op> {
  using detail::plain_kernel<to_chw_op>::plain_kernel;

  void operator()(const In& in, to_chw_op::output<In>& out, std::byte*) const {
    for (std::size_t y = 0; y < In::extents[0]; ++y)
      for (std::size_t x = 0; x < In::extents[1]; ++x)
        for (std::size_t c = 0; c < In::extents[2]; ++c) out(c, y, x) = in(y, x, c);
  }
};

template <class In, ycbcr_matrix Matrix, ycbcr_range Range>
  requires op_takes<to_rgb_op<Matrix, Range>, In>
struct reference_kernel<In, to_rgb_op<Matrix, Range>> : detail::plain_kernel<to_rgb_op<Matrix, Range>> {
  using op_type = to_rgb_op<Matrix, Range>;
  using detail::plain_kernel<op_type>::plain_kernel;

  void operator()(const In& in, typename op_type::template output<In>& out, std::byte*) const {
    const image_of<In>& from = view_of(in);
    for (std::size_t y = 0; y < from.height; ++y)
      for (std::size_t x = 0; x < from.width; ++x) {
        const rgb_pixel p = rgb_at(from, op_type::factors, y, x);
        for (std::size_t c = 0; c < 3; ++c) out(y, x, c) = p[c];
      }
  }
};

template <class In, std::size_t Channels>
  requires op_takes<normalize_op<Channels>, In>
struct reference_kernel<In, normalize_op<Channels>> {
  static constexpr std::size_t scratch_bytes = 0;

  reference_kernel(const normalize_op<Channels>& op, parameter_values) : op_(op) {}

  void operator()(const In& in, with_element_t<float, In>& out, std::byte*) const {
    constexpr std::size_t channel_size = In::elements / Channels;
    for (std::size_t i = 0; i < In::elements; ++i) {
      const std::size_t c = i / channel_size;
      out[i] = (static_cast<float>(in[i]) * op_.scale - op_.mean[c]) / op_.deviation[c];
    }
  }

 private:
  normalize_op<Channels> op_;
};

template <class In, std::size_t Y, std::size_t X, std::size_t Height, std::size_t Width, layout Layout>
  requires op_takes<crop_op<Y, X, Height, Width, Layout>, In>
struct reference_kernel<In, crop_op<Y, X, Height, Width, Layout>>
    : detail::plain_kernel<crop_op<Y, X, Height, Width, Layout>> {
  using detail::plain_kernel<crop_op<Y, X, Height, Width, Layout>>::plain_kernel;
  using out_type = typename crop_op<Y, X, Height, Width, Layout>::template output<In>;
  using from = picture<In, Layout>;
  using to = picture<out_type, Layout>;

  void operator()(const In& in, out_type& out, std::byte*) const {
    for (std::size_t c = 0; c < to::channels; ++c)
      for (std::size_t y = 0; y < Height; ++y)
        for (std::size_t x = 0; x < Width; ++x) out[to::at(c, y, x)] = in[from::at(c, y + Y, x + X)];
  }
};

}  // namespace levada
