// SPDX-License-Identifier: Apache-2.0
#pragma once
// preprocess/peers.hpp: the same by OpenCV and by libyuv, on one thread, in memory that was allocated before, in the
// orders in which a user might call them. The one that resizes the planes first converts least, and is the fastest.

#include <cstddef>
#include <cstdint>
#include <vector>

#if LEVADA_HAS_OPENCV
#include <opencv2/imgproc.hpp>
#endif
#if LEVADA_HAS_LIBYUV
#include <libyuv.h>
#endif

#include "frame.hpp"

namespace preprocess {

#if LEVADA_HAS_OPENCV

inline cv::Mat plane(std::size_t rows, std::size_t columns, int type, const std::uint8_t* data) {
  return {static_cast<int>(rows), static_cast<int>(columns), type, const_cast<std::uint8_t*>(data)};
}

/// The whole frame to colours, which are resized.
template <std::size_t Height, std::size_t Width>
class opencv_convert_first {
 public:
  opencv_convert_first() { cv::setNumThreads(1); }
  void operator()(const frame& from, float* planes) {
    cv::cvtColorTwoPlane(plane(height, width, CV_8UC1, from.luma()),
                         plane(height / 2, width / 2, CV_8UC2, from.chroma()), colours_, cv::COLOR_YUV2RGB_NV12);
    cv::resize(colours_, small_, cv::Size(Width, Height), 0, 0, cv::INTER_LINEAR);
    to_planes<3>(small_.data, Height * Width, planes);
  }

 private:
  cv::Mat colours_, small_;
};

/// Both planes resized, then colours.
template <std::size_t Height, std::size_t Width>
class opencv_resize_first {
 public:
  opencv_resize_first() { cv::setNumThreads(1); }
  void operator()(const frame& from, float* planes) {
    cv::resize(plane(height, width, CV_8UC1, from.luma()), luma_, cv::Size(Width, Height), 0, 0, cv::INTER_LINEAR);
    cv::resize(plane(height / 2, width / 2, CV_8UC2, from.chroma()), chroma_, cv::Size(Width / 2, Height / 2), 0, 0,
               cv::INTER_LINEAR);
    cv::cvtColorTwoPlane(luma_, chroma_, small_, cv::COLOR_YUV2RGB_NV12);
    to_planes<3>(small_.data, Height * Width, planes);
  }

 private:
  cv::Mat luma_, chroma_, small_;
};

#endif

#if LEVADA_HAS_LIBYUV

/// Both planes resized, then colours of three or four bytes a pixel.
template <std::size_t Height, std::size_t Width, std::size_t Bytes>
class libyuv_resize_first {
 public:
  void operator()(const frame& from, float* planes) {
    constexpr int columns = width, to_columns = Width, to_rows = Height;
    libyuv::NV12Scale(from.luma(), columns, from.chroma(), columns, columns, static_cast<int>(height), luma_.data(),
                      to_columns, chroma_.data(), to_columns, to_columns, to_rows, libyuv::kFilterBilinear);
    const auto convert = Bytes == 3 ? libyuv::NV12ToRAW : libyuv::NV12ToABGR;  // R, G, B(, A) in memory
    convert(luma_.data(), to_columns, chroma_.data(), to_columns, small_.data(), to_columns * static_cast<int>(Bytes),
            to_columns, to_rows);
    to_planes<Bytes>(small_.data(), Height * Width, planes);
  }

 private:
  std::vector<std::uint8_t> luma_ = std::vector<std::uint8_t>(Height * Width),
                            chroma_ = std::vector<std::uint8_t>(Height / 2 * Width),
                            small_ = std::vector<std::uint8_t>(Height * Width * Bytes);
};

#endif

}  // namespace preprocess
