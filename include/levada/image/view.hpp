// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/view.hpp: pictures in somebody else's memory, as cameras and decoders hold them: a pixel format, planes, padded
// rows.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <levada/core/detail/foreign.hpp>
#include <levada/core/error.hpp>

namespace levada {

/// One plane of a pixel format: cells of `bytes` bytes, each of which stands for `columns` x `rows` pixels.
struct plane_format {
  std::size_t bytes, columns, rows;
};

/// The pixel formats, 8 bits a sample, under their names in GStreamer and V4L2.
namespace pixel {

struct gray {
  static constexpr std::string_view name = "gray";
  static constexpr std::array planes{plane_format{1, 1, 1}};
};
/// Interleaved R, G, B.
struct rgb {
  static constexpr std::string_view name = "rgb";
  static constexpr std::array planes{plane_format{3, 1, 1}};
};
/// Interleaved B, G, R: OpenCV's order.
struct bgr {
  static constexpr std::string_view name = "bgr";
  static constexpr std::array planes{plane_format{3, 1, 1}};
};
/// Interleaved R, G, B, A.
struct rgba {
  static constexpr std::string_view name = "rgba";
  static constexpr std::array planes{plane_format{4, 1, 1}};
};
/// Y'CbCr 4:2:0: a plane of Y' and a plane of Cb, Cr for 2 x 2 pixels each.
struct nv12 {
  static constexpr std::string_view name = "nv12";
  static constexpr std::array planes{plane_format{1, 1, 1}, plane_format{2, 2, 2}};
};
/// Y'CbCr 4:2:2, packed: Y'0 Cb Y'1 Cr for two pixels.
struct yuyv {
  static constexpr std::string_view name = "yuyv";
  static constexpr std::array planes{plane_format{4, 2, 1}};
};

}  // namespace pixel

/// Where a plane begins, and from one of its rows to the next in bytes, padding included.
struct image_plane {
  const std::uint8_t* data;
  std::size_t pitch;
};

/// A read-only view of a picture in foreign memory. Owns nothing and copies nothing; a few words of size.
template <class Format, std::size_t Height, std::size_t Width>
class image_view {
  static constexpr bool whole_cells = [] {
    for (const plane_format& p : Format::planes)
      if (Width % p.columns != 0 || Height % p.rows != 0) return false;
    return true;
  }();

 public:
  using format = Format;
  static constexpr std::size_t height = Height, width = Width, planes = Format::planes.size();

  /// The bytes of a row of a plane without padding, and how many rows the plane has.
  static constexpr std::size_t row_bytes(std::size_t plane) {
    return Width / Format::planes[plane].columns * Format::planes[plane].bytes;
  }
  static constexpr std::size_t rows(std::size_t plane) { return Height / Format::planes[plane].rows; }

  /// `image_view<pixel::nv12, 480, 640>({y, y_pitch}, {uv, uv_pitch})`: as many planes as the format has. Throws
  /// levada::error for a plane that is null or whose pitch is less than a row. That the memory reaches so far is the
  /// caller's word.
  constexpr explicit image_view(const image_plane& only)
    requires(planes == 1)
      : planes_{only} {
    check();
  }
  constexpr image_view(const image_plane& first, const image_plane& second)
    requires(planes == 2)
      : planes_{first, second} {
    check();
  }

  constexpr const image_plane& plane(std::size_t index) const { return planes_[index]; }

  /// The first byte of a row of a plane. Indices are not checked.
  constexpr const std::uint8_t* row(std::size_t plane, std::size_t y) const {
    return planes_[plane].data + y * planes_[plane].pitch;
  }

 private:
  // The extents are judged here, where a view is made: a class that is wrong in itself gives clang a second error.
  constexpr void check() const {
    static_assert(Height > 0 && Width > 0, "a picture has at least one row and one column");
    static_assert(whole_cells,
                  "neighbours share their chroma: yuyv needs an even width, nv12 an even width and height");
    for (std::size_t p = 0; p < planes; ++p) {
      if (planes_[p].data == nullptr) throw error(place(p) + " is null");
      if (planes_[p].pitch < row_bytes(p))
        throw error(place(p) + " has a pitch of " + std::to_string(planes_[p].pitch) + " bytes, less than its row of " +
                    std::to_string(row_bytes(p)));
    }
  }
  static std::string place(std::size_t plane) {
    return "levada: image_view<" + std::string(Format::name) + ", " + std::to_string(Height) + ", " +
           std::to_string(Width) + ">: plane " + std::to_string(plane);
  }

  std::array<image_plane, planes> planes_;
};

template <class Format, std::size_t Height, std::size_t Width>
inline constexpr bool points_elsewhere<image_view<Format, Height, Width>> = true;

/// A picture on loan: what a camera pushes into a pipeline, and gets back once.
template <class Format, std::size_t Height, std::size_t Width>
using image_buffer = foreign<image_view<Format, Height, Width>>;

namespace detail {

template <class T>
struct image_of_item;
template <class Format, std::size_t Height, std::size_t Width>
struct image_of_item<image_view<Format, Height, Width>> {
  using type = image_view<Format, Height, Width>;
};
template <class Format, std::size_t Height, std::size_t Width>
struct image_of_item<image_buffer<Format, Height, Width>> : image_of_item<image_view<Format, Height, Width>> {};

}  // namespace detail

/// An item that is a picture in foreign memory, on loan or only seen.
template <class T>
concept image_item = requires { typename detail::image_of_item<T>::type; };

/// The view type of such an item.
template <image_item T>
using image_of = typename detail::image_of_item<T>::type;

/// The picture of such an item; throws levada::error for a buffer that was given back.
template <image_item T>
constexpr const image_of<T>& view_of(const T& item) {
  if constexpr (std::is_same_v<T, image_of<T>>)
    return item;
  else
    return item.view();
}

}  // namespace levada
