// SPDX-License-Identifier: Apache-2.0
#pragma once
// preprocess/frame.hpp: the picture that all contenders take, and what they make of it.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <levada/image/view.hpp>

namespace preprocess {

inline constexpr std::size_t height = 1080, width = 1920;
inline constexpr std::array mean{0.485f, 0.456f, 0.406f}, deviation{0.229f, 0.224f, 0.225f};

using view = levada::image_view<levada::pixel::nv12, height, width>;

/// Waves and some noise, all of whose colours can be shown: what is cut off at 0 and 255 comes out differently where
/// colours are made before the picture is resized and where they are made behind it.
class frame {
 public:
  frame() {
    std::mt19937 random{2026};
    const auto noise = [&] { return static_cast<double>(random() % 3); };
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x)
        luma_[y * width + x] = level(126 + 40 * wave(y, x, 0.011, 0.017) + 12 * wave(y, x, 0.05, -0.07) + noise());
    for (std::size_t y = 0; y < height / 2; ++y)
      for (std::size_t x = 0; x < width / 2; ++x) {
        chroma_[y * width + 2 * x] = level(128 + 20 * wave(y, x, 0.013, 0.008));
        chroma_[y * width + 2 * x + 1] = level(128 + 20 * wave(y, x, -0.009, 0.015));
      }
  }

  const std::uint8_t* luma() const { return luma_.data(); }
  const std::uint8_t* chroma() const { return chroma_.data(); }
  preprocess::view view() const { return preprocess::view({luma(), width}, {chroma(), width}); }

 private:
  static double wave(std::size_t y, std::size_t x, double by_row, double by_column) {
    return std::sin(by_row * static_cast<double>(y) + by_column * static_cast<double>(x));
  }
  static std::uint8_t level(double v) { return static_cast<std::uint8_t>(std::lround(v)); }

  std::vector<std::uint8_t> luma_ = std::vector<std::uint8_t>(height * width),
                            chroma_ = std::vector<std::uint8_t>(height / 2 * width);
};

/// The loop behind OpenCV and libyuv: pixels of `Bytes` bytes, R, G and B first, to normalised planes. Written so that
/// g++ makes vectors of it.
template <std::size_t Bytes>
void to_planes(const std::uint8_t* __restrict pixels, std::size_t count, float* __restrict planes) {
  const auto factor = [](std::size_t c) { return 1 / (255 * deviation[c]); };
  const auto offset = [](std::size_t c) { return -mean[c] / deviation[c]; };
  float* __restrict red = planes, * __restrict green = planes + count, * __restrict blue = planes + 2 * count;
  for (std::size_t i = 0; i < count; ++i) {
    red[i] = static_cast<float>(pixels[Bytes * i]) * factor(0) + offset(0);
    green[i] = static_cast<float>(pixels[Bytes * i + 1]) * factor(1) + offset(1);
    blue[i] = static_cast<float>(pixels[Bytes * i + 2]) * factor(2) + offset(2);
  }
}

}  // namespace preprocess
