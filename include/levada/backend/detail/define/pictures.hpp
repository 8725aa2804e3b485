// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/pictures.hpp: resizes and blurs pixel by pixel.

#include <algorithm>

#include <levada/backend/detail/definition.hpp>
#include <levada/image/blur.hpp>
#include <levada/image/letterbox.hpp>
#include <levada/image/resize.hpp>

namespace levada {

namespace detail {

/// The pixels of one axis, `value_at(place)`, joined as a tap says.
template <resize_mode Mode, class Backend, class F>
float tap_of(const resize_tap& tap, F value_at) {
  const auto at = [&](std::size_t k) { return value_at(static_cast<std::size_t>(tap.place[k])); };
  if constexpr (Mode == resize_mode::nearest) return at(0);
  if constexpr (Mode == resize_mode::bilinear) return at(0) + (at(1) - at(0)) * tap.weight[1];
  float sum = 0;
  for (std::size_t k = 0; k < 4; ++k) sum += tap.weight[k] * at(k);
  return sum;
}

/// One pixel of a resized picture.
template <layout Layout, resize_mode Mode, class Backend, class In>
typename In::value_type resized_at(const In& in, std::size_t c, const resize_tap& row, const resize_tap& column,
                                   float extrapolation) {
  using value = typename In::value_type;
  if (row.outside || column.outside) return filtered<value>(extrapolation);
  return filtered<value>(tap_of<Mode, Backend>(row, [&](std::size_t y) {
    return tap_of<Mode, Backend>(
        column, [&](std::size_t x) { return static_cast<float>(in[picture<In, Layout>::at(c, y, x)]); });
  }));
}

}  // namespace detail

template <class Backend, class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<resize_op<Height, Width, Mode, Layout>, In>
struct definition<Backend, In, resize_op<Height, Width, Mode, Layout>> {
  using op_type = resize_op<Height, Width, Mode, Layout>;
  using out_type = typename op_type::template output<In>;
  using from = picture<In, Layout>;
  using to = picture<out_type, Layout>;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const op_type& op, parameter_values) : rule_(op.rule) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    const auto rows = resize_axis::rows(Mode, rule_, from::height, Height);
    const auto columns = resize_axis::columns(Mode, rule_, from::width, Width);
    for (std::size_t c = 0; c < to::channels; ++c)
      for (std::size_t y = 0; y < Height; ++y)
        for (std::size_t x = 0; x < Width; ++x)
          out[to::at(c, y, x)] =
              detail::resized_at<Layout, Mode, Backend>(in, c, rows.tap(y), columns.tap(x), rule_.extrapolation);
  }

 private:
  resize_rule rule_;
};

template <class Backend, class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<letterbox_op<Height, Width, Mode, Layout>, In>
struct definition<Backend, In, letterbox_op<Height, Width, Mode, Layout>> {
  using op_type = letterbox_op<Height, Width, Mode, Layout>;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;
  using from = picture<In, Layout>;
  using to = picture<out_type, Layout>;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const op_type& op, parameter_values) : fill_(filtered<value>(op.fill)) {}

  void operator()(const In& in, out_type& out, std::byte*) const {
    constexpr letterbox_place place = op_type::template place<In>;
    constexpr auto rows = resize_axis::rows(Mode, {}, from::height, place.height);
    constexpr auto columns = resize_axis::columns(Mode, {}, from::width, place.width);
    out.fill(fill_);
    for (std::size_t c = 0; c < to::channels; ++c)
      for (std::size_t y = 0; y < place.height; ++y)
        for (std::size_t x = 0; x < place.width; ++x)
          out[to::at(c, place.top + y, place.left + x)] =
              detail::resized_at<Layout, Mode, Backend>(in, c, rows.tap(y), columns.tap(x), 0);
  }

 private:
  value fill_;
};

template <class Backend, class In, std::size_t Size, layout Layout>
  requires op_takes<gaussian_blur_op<Size, Layout>, In>
struct definition<Backend, In, gaussian_blur_op<Size, Layout>> {
  using value = typename In::value_type;
  using from = picture<In, Layout>;

  static constexpr std::size_t scratch_bytes = 0;

  definition(const gaussian_blur_op<Size, Layout>& op, parameter_values)
      : weights_(gaussian_weights<Size>(static_cast<double>(op.sigma))) {}

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t c = 0; c < from::channels; ++c)
      for (std::size_t y = 0; y < from::height; ++y)
        for (std::size_t x = 0; x < from::width; ++x) out[from::at(c, y, x)] = filtered<value>(around(in, c, y, x));
  }

 private:
  float around(const In& in, std::size_t c, std::size_t y, std::size_t x) const {
    float sum = 0;
    for (std::size_t kx = 0; kx < Size; ++kx) {
      float down = 0;
      for (std::size_t ky = 0; ky < Size; ++ky)
        down += weights_[ky] *
                static_cast<float>(in[from::at(c, mirrored(y + ky, from::height), mirrored(x + kx, from::width))]);
      sum += weights_[kx] * down;
    }
    return sum;
  }
  /// The place `at - Size / 2`, brought into an axis.
  static std::size_t mirrored(std::size_t at, std::size_t extent) {
    const std::size_t before = Size / 2;
    return at < before ? before - at : at - before < extent ? at - before : 2 * (extent - 1) - (at - before);
  }

  std::array<float, Size> weights_;
};

template <class Backend, class In, std::size_t Size, layout Layout>
  requires op_takes<median_blur_op<Size, Layout>, In>
struct definition<Backend, In, median_blur_op<Size, Layout>> : detail::plain_definition<median_blur_op<Size, Layout>> {
  using detail::plain_definition<median_blur_op<Size, Layout>>::plain_definition;
  using from = picture<In, Layout>;

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t c = 0; c < from::channels; ++c)
      for (std::size_t y = 0; y < from::height; ++y)
        for (std::size_t x = 0; x < from::width; ++x) {
          std::array<typename In::value_type, Size * Size> around;
          for (std::size_t k = 0; k < Size * Size; ++k)
            around[k] = in[from::at(c, held(y + k / Size, from::height), held(x + k % Size, from::width))];
          const auto middle = around.begin() + Size * Size / 2;
          std::nth_element(around.begin(), middle, around.end());
          out[from::at(c, y, x)] = *middle;
        }
  }

 private:
  /// The place `at - Size / 2`, held to an axis.
  static std::size_t held(std::size_t at, std::size_t extent) {
    return std::clamp(at, Size / 2, Size / 2 + extent - 1) - Size / 2;
  }
};

}  // namespace levada
