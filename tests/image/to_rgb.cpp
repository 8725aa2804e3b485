// SPDX-License-Identifier: Apache-2.0
// Colours against the formula of the standards in exact fractions, and against figures of two other libraries; where
// each format keeps its samples.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <doctest/doctest.h>

#include <levada/backend/reference.hpp>

#include "picture.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

/// The factors as the standards print them, to the digits that they print: BT.601-7 2.5.1, BT.709-6 3.2, 3.3.
struct printed {
  double red_cr, green_cb, green_cr, blue_cb;
};
printed factors_of(ycbcr_matrix matrix) {
  return matrix == ycbcr_matrix::bt601 ? printed{1.402, -1.772 * 0.114 / 0.587, -1.402 * 0.299 / 0.587, 1.772}
                                       : printed{1.5748, -1.8556 * 0.0722 / 0.7152, -1.5748 * 0.2126 / 0.7152, 1.8556};
}

/// The largest distance of `rgb_of` from the exact colour, over the codes in steps of 1, 5, 3.
double largest_distance(ycbcr_matrix matrix, ycbcr_range range) {
  const ycbcr_factors factors(matrix, range);
  const printed f = factors_of(matrix);
  const bool limited = range == ycbcr_range::limited;
  double largest = 0;
  for (int y = 0; y < 256; ++y)
    for (int cb = 0; cb < 256; cb += 5)
      for (int cr = 0; cr < 256; cr += 3) {
        const double luma = limited ? (y - 16) / 219.0 : y / 255.0;
        const double blue = (cb - 128) / (limited ? 224.0 : 255.0), red = (cr - 128) / (limited ? 224.0 : 255.0);
        const double exact[] = {luma + f.red_cr * red, luma + f.green_cb * blue + f.green_cr * red,
                                luma + f.blue_cb * blue};
        const rgb_pixel computed =
            rgb_of(factors, static_cast<std::uint8_t>(y), static_cast<std::uint8_t>(cb), static_cast<std::uint8_t>(cr));
        for (std::size_t c = 0; c < 3; ++c)
          largest = std::max(largest, std::abs(computed[c] - std::clamp(exact[c] * 255, 0.0, 255.0)));
      }
  return largest;
}

/// By the kernel of the reference.
template <class Format, std::size_t H, std::size_t W>
tensor<std::uint8_t, H, W, 3> converted(const image_view<Format, H, W>& view) {
  using op = to_rgb_op<ycbcr_matrix::bt601, ycbcr_range::limited>;
  const reference_kernel<image_view<Format, H, W>, op> kernel(op{}, parameter_values{std::span<const void* const>{}});
  tensor<std::uint8_t, H, W, 3> out;
  kernel(view, out, nullptr);
  return out;
}

}  // namespace

TEST_CASE("every colour is the rounded one of the standard's formula, but for ties missed by 0.016 of a level") {
  for (const ycbcr_matrix matrix : {ycbcr_matrix::bt601, ycbcr_matrix::bt709})
    for (const ycbcr_range range : {ycbcr_range::limited, ycbcr_range::full})
      CHECK(largest_distance(matrix, range) <= 0.516);
}

TEST_CASE("colours are those of scikit-image and of Pillow, within one level") {
  struct figure {
    int ycbcr[3], limited[3], full[3];
  };
  // numpy.floor(numpy.clip(255 * skimage.color.ycbcr2rgb(a), 0, 255) + 0.5) with scikit-image 0.19.3 (BT.601, limited),
  // and Image.fromarray(a, "YCbCr").convert("RGB") with Pillow 9.4.0 (JPEG: BT.601, full).
  constexpr figure figures[] = {
      {{16, 128, 128}, {0, 0, 0}, {16, 16, 16}},           {{235, 128, 128}, {255, 255, 255}, {235, 235, 235}},
      {{126, 128, 128}, {128, 128, 128}, {126, 126, 126}}, {{81, 90, 240}, {254, 0, 0}, {238, 14, 13}},
      {{145, 54, 34}, {0, 255, 1}, {13, 237, 13}},         {{41, 240, 110}, {0, 0, 255}, {15, 15, 239}},
      {{210, 16, 146}, {255, 255, 0}, {235, 235, 11}},     {{170, 166, 16}, {1, 255, 255}, {12, 236, 237}},
      {{106, 202, 222}, {255, 0, 254}, {237, 13, 237}},    {{0, 0, 0}, {0, 136, 0}, {0, 135, 0}},
      {{255, 255, 255}, {255, 125, 255}, {255, 120, 255}}, {{100, 200, 50}, {0, 133, 243}, {0, 130, 227}},
      {{180, 30, 220}, {255, 155, 0}, {255, 148, 6}},      {{60, 128, 200}, {166, 0, 51}, {160, 8, 60}},
      {{200, 100, 100}, {170, 248, 158}, {160, 229, 150}}, {{17, 129, 127}, {0, 2, 3}, {15, 17, 18}},
  };
  constexpr ycbcr_factors limited(ycbcr_matrix::bt601, ycbcr_range::limited),
      full(ycbcr_matrix::bt601, ycbcr_range::full);
  for (const figure& f : figures) {
    const auto code = [&](std::size_t i) { return static_cast<std::uint8_t>(f.ycbcr[i]); };
    const rgb_pixel a = rgb_of(limited, code(0), code(1), code(2)), b = rgb_of(full, code(0), code(1), code(2));
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(std::abs(a[c] - f.limited[c]) <= 1);
      CHECK(std::abs(b[c] - f.full[c]) <= 1);
    }
  }
}

TEST_CASE("black and white are exact in the limited range") {
  constexpr ycbcr_factors hd(ycbcr_matrix::bt709, ycbcr_range::limited);
  static_assert(rgb_of(hd, 16, 128, 128) == rgb_pixel{0, 0, 0});
  static_assert(rgb_of(hd, 235, 128, 128) == rgb_pixel{255, 255, 255});
  static_assert(rgb_of(hd, 0, 128, 128) == rgb_pixel{0, 0, 0} && rgb_of(hd, 255, 128, 128) == rgb_pixel{255, 255, 255});
}

TEST_CASE("formats without chroma give their samples in the order R, G, B") {
  constexpr std::uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  // Two pixels a row, two rows; the padding is never shown.
  CHECK(converted(image_view<pixel::gray, 2, 2>({bytes, 5})) ==
        tensor<std::uint8_t, 2, 2, 3>{{1, 1, 1, 2, 2, 2, 6, 6, 6, 7, 7, 7}});
  CHECK(converted(image_view<pixel::rgb, 2, 1>({bytes, 7})) == tensor<std::uint8_t, 2, 1, 3>{{1, 2, 3, 8, 9, 10}});
  CHECK(converted(image_view<pixel::bgr, 2, 1>({bytes, 7})) == tensor<std::uint8_t, 2, 1, 3>{{3, 2, 1, 10, 9, 8}});
  CHECK(converted(image_view<pixel::rgba, 1, 2>({bytes, 8})) == tensor<std::uint8_t, 1, 2, 3>{{1, 2, 3, 5, 6, 7}});
}

TEST_CASE("the chroma of nv12 belongs to two by two pixels, that of yuyv to two in a row") {
  // Red on the left, blue on the right (of the figures above), the lower row darker by 50 codes.
  constexpr std::uint8_t luma[] = {91, 91, 91, 91, 0, 41, 41, 41, 41}, chroma[] = {90, 240, 240, 110};
  const auto from_nv12 = converted(image_view<pixel::nv12, 2, 4>({luma, 5}, {chroma, 4}));
  constexpr std::uint8_t packed[] = {91, 90, 91, 240, 91, 240, 91, 110, 0, 0, 41, 90, 41, 240, 41, 240, 41, 110};
  const auto from_yuyv = converted(image_view<pixel::yuyv, 2, 4>({packed, 10}));
  CHECK(from_nv12 == from_yuyv);
  constexpr ycbcr_factors f(ycbcr_matrix::bt601, ycbcr_range::limited);
  for (std::size_t y = 0; y < 2; ++y)
    for (std::size_t x = 0; x < 4; ++x) {
      const std::uint8_t code = y == 0 ? 91 : 41;
      const rgb_pixel expected = x < 2 ? rgb_of(f, code, 90, 240) : rgb_of(f, code, 240, 110);
      for (std::size_t c = 0; c < 3; ++c) CHECK(from_nv12(y, x, c) == expected[c]);
    }
}
