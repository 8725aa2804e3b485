// SPDX-License-Identifier: Apache-2.0
#pragma once
// interop/opencv.hpp: pictures of OpenCV and of levada over the same memory.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <opencv2/core/mat.hpp>

#include <levada/core/error.hpp>
#include <levada/core/tensor.hpp>
#include <levada/image/view.hpp>

namespace levada {
namespace detail {

/// As OpenCV has a plane: its columns are pixels also where two of them share a cell.
template <class Format, std::size_t Plane>
inline constexpr std::size_t mat_channels = std::same_as<Format, pixel::yuyv> ? 2 : Format::planes[Plane].bytes;

template <class Format, std::size_t Height, std::size_t Width, std::size_t Plane>
image_plane plane_of(const cv::Mat& mat) {
  using view = image_view<Format, Height, Width>;
  constexpr std::size_t channels = mat_channels<Format, Plane>;
  if (mat.dims != 2 || mat.type() != CV_8UC(static_cast<int>(channels)) ||
      mat.rows != static_cast<int>(view::rows(Plane)) ||
      mat.cols != static_cast<int>(view::row_bytes(Plane) / channels))
    throw error("levada: as_image_view<" + std::string(Format::name) + ", " + std::to_string(Height) + ", " +
                std::to_string(Width) + ">: the cv::Mat " + (Plane == 0 ? "" : "of the second plane ") + "has " +
                std::to_string(mat.rows) + " rows, " + std::to_string(mat.cols) + " columns, " +
                std::to_string(mat.channels()) + " channels of depth " + std::to_string(mat.depth()));
  return {mat.data, mat.step[0]};
}

}  // namespace detail

/// A plane of a picture as the `cv::Mat` that OpenCV's colour conversions take, CV_8UC1 to CV_8UC4; const, because
/// OpenCV has no other word for memory that is only read. Of nv12: plane 0 is CV_8UC1, plane 1 CV_8UC2 of half the
/// extents, as for cv::cvtColorTwoPlane. Of yuyv: CV_8UC2. The memory has to outlive every copy of the Mat.
template <std::size_t Plane = 0, class Format, std::size_t Height, std::size_t Width>
  requires(Plane < Format::planes.size())
const cv::Mat as_mat(const image_view<Format, Height, Width>& view) {
  constexpr std::size_t channels = detail::mat_channels<Format, Plane>;
  const auto rows = static_cast<int>(view.rows(Plane)), columns = static_cast<int>(view.row_bytes(Plane) / channels);
  return cv::Mat(rows, columns, CV_8UC(static_cast<int>(channels)), const_cast<std::uint8_t*>(view.row(Plane, 0)),
                 view.plane(Plane).pitch);
}

/// A picture of bytes H, W, C, such as `image::to_rgb` gives, as a `cv::Mat` over the same memory.
template <std::size_t Height, std::size_t Width, std::size_t Channels>
  requires(Channels <= 4)
cv::Mat as_mat(tensor<std::uint8_t, Height, Width, Channels>& picture) {
  return cv::Mat(static_cast<int>(Height), static_cast<int>(Width), CV_8UC(static_cast<int>(Channels)), picture.data());
}
template <std::size_t Height, std::size_t Width, std::size_t Channels>
  requires(Channels <= 4)
const cv::Mat as_mat(const tensor<std::uint8_t, Height, Width, Channels>& picture) {
  return as_mat(const_cast<tensor<std::uint8_t, Height, Width, Channels>&>(picture));
}
template <std::size_t... Dims>
void as_mat(const tensor<std::uint8_t, Dims...>&& temporary) = delete;

/// A `cv::Mat` of `Height` x `Width` as a view of its memory: CV_8UC1 as gray, CV_8UC3 as bgr (what OpenCV reads and
/// captures) or rgb, CV_8UC4 as rgba, CV_8UC2 as yuyv; of a larger picture, a rectangle. Throws levada::error for
/// another size or type.
template <class Format, std::size_t Height, std::size_t Width>
  requires(Format::planes.size() == 1)
image_view<Format, Height, Width> as_image_view(const cv::Mat& mat) {
  return image_view<Format, Height, Width>(detail::plane_of<Format, Height, Width, 0>(mat));
}

/// Two planes, as nv12 has: CV_8UC1 and CV_8UC2 of half the extents.
template <class Format, std::size_t Height, std::size_t Width>
  requires(Format::planes.size() == 2)
image_view<Format, Height, Width> as_image_view(const cv::Mat& first, const cv::Mat& second) {
  return {detail::plane_of<Format, Height, Width, 0>(first), detail::plane_of<Format, Height, Width, 1>(second)};
}

namespace detail {

template <class Format, std::size_t Height, std::size_t Width>
image_buffer<Format, Height, Width> buffer_of(std::array<cv::Mat, Format::planes.size()> planes) {
  using view = image_view<Format, Height, Width>;
  auto kept = std::make_unique<decltype(planes)>(std::move(planes));
  image_buffer<Format, Height, Width> buffer(
      std::apply([](const auto&... mats) { return as_image_view<Format, Height, Width>(mats...); }, *kept),
      [](void* held, const view&) noexcept { delete static_cast<decltype(planes)*>(held); }, kept.get());
  kept.release();
  return buffer;
}

}  // namespace detail

/// The same as an item that keeps the memory of its Mats, as copies of them would, until it is destroyed. Nothing is
/// copied; the heads of the Mats take one small allocation. A Mat over memory of others keeps nothing: then they have
/// to.
template <class Format, std::size_t Height, std::size_t Width>
  requires(Format::planes.size() == 1)
image_buffer<Format, Height, Width> as_image_buffer(cv::Mat mat) {
  return detail::buffer_of<Format, Height, Width>({std::move(mat)});
}
template <class Format, std::size_t Height, std::size_t Width>
  requires(Format::planes.size() == 2)
image_buffer<Format, Height, Width> as_image_buffer(cv::Mat first, cv::Mat second) {
  return detail::buffer_of<Format, Height, Width>({std::move(first), std::move(second)});
}

}  // namespace levada
