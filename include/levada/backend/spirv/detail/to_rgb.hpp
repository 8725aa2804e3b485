// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/to_rgb.hpp: pictures in foreign memory to interleaved R, G, B. Their rows go to the device
// without padding, plane after plane, and the device makes the colours.

#include <cstring>

#include <levada/backend/spirv/detail/grid.hpp>
#include <levada/image/to_rgb.hpp>

namespace levada {

namespace detail {

/// Where the planes of a picture begin without padding, and the bytes of all.
template <class View>
struct packed_planes {
  static constexpr std::size_t begin(std::size_t plane) {
    std::size_t before = 0;
    for (std::size_t p = 0; p < plane; ++p) before += View::rows(p) * View::row_bytes(p);
    return before;
  }
  static constexpr std::size_t bytes = begin(View::planes);

  template <class Item>
  static void pack(const void* item, std::byte* to) {
    const View& from = view_of(*static_cast<const Item*>(item));
    for (std::size_t p = 0; p < View::planes; ++p)
      for (std::size_t y = 0; y < View::rows(p); ++y, to += View::row_bytes(p))
        std::memcpy(to, from.row(p, y), View::row_bytes(p));
  }
};

template <class View, class Op>
struct to_rgb_source {
  template <class G, class In, class Out>
  constexpr void operator()(const G& g, const In& in, const Out& out) const {
    using format = typename View::format;
    const auto x = g.x(), y = g.y();
    const auto put = [&](const auto& r, const auto& green, const auto& b) {
      out(y, x, 0) = r, out(y, x, 1) = green, out(y, x, 2) = b;
    };
    // A byte of a plane's row.
    const auto byte = [&]<std::size_t Plane>(std::integral_constant<std::size_t, Plane>, const auto& row,
                                             const auto& at) {
      return in(row * static_cast<int>(View::row_bytes(Plane)) + at +
                static_cast<int>(packed_planes<View>::begin(Plane)));
    };
    constexpr std::integral_constant<std::size_t, 0> first;
    if constexpr (std::same_as<format, pixel::gray>) {
      const auto level = byte(first, y, x);
      put(level, level, level);
    } else if constexpr (std::same_as<format, pixel::nv12>) {
      constexpr std::integral_constant<std::size_t, 1> second;
      const auto chroma = x / 2 * 2;
      colours(byte(first, y, x), byte(second, y / 2, chroma), byte(second, y / 2, chroma + 1), put);
    } else if constexpr (std::same_as<format, pixel::yuyv>) {
      const auto pair = x / 2 * 4;
      colours(byte(first, y, pair + x % 2 * 2), byte(first, y, pair + 1), byte(first, y, pair + 3), put);
    } else {
      constexpr int size = static_cast<int>(format::planes[0].bytes), red = std::same_as<format, pixel::bgr> ? 2 : 0;
      put(byte(first, y, x * size + red), byte(first, y, x * size + 1), byte(first, y, x * size + (2 - red)));
    }
  }

 private:
  /// `rgb_of`.
  template <class V, class Put>
  static constexpr void colours(const V& y, const V& cb, const V& cr, const Put& put) {
    constexpr ycbcr_factors f = Op::factors;
    const auto luma = (y - f.offset) * f.luma + ycbcr_factors::one / 2, blue = cb - 128, red = cr - 128;
    const auto level = [](const V& v) { return min(max(v, 0), 256 * ycbcr_factors::one - 1) / ycbcr_factors::one; };
    put(level(luma + red * f.red_cr), level(luma + blue * f.green_cb + red * f.green_cr),
        level(luma + blue * f.blue_cb));
  }
};

}  // namespace detail

template <class In, ycbcr_matrix Matrix, ycbcr_range Range>
  requires op_takes<to_rgb_op<Matrix, Range>, In>
struct spirv_kernel<In, to_rgb_op<Matrix, Range>> : dispatch_kernel {
  using op_type = to_rgb_op<Matrix, Range>;
  using out_type = typename op_type::template output<In>;
  using view = image_of<In>;
  using planes = detail::packed_planes<view>;

  spirv_kernel(const op_type&, parameter_values) {
    in_bytes = planes::bytes;
    out_bytes = sizeof(out_type);
    pack = &planes::template pack<In>;
    add_grid<"to_rgb", tensor<std::uint8_t, planes::bytes>, out_type, grid<view::width, view::height>>(
        *this, detail::to_rgb_source<view, op_type>{});
  }
};

}  // namespace levada
