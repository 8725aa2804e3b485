// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/to_rgb.hpp: pictures of any pixel format, where a camera left them, to a tensor of interleaved R, G, B.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <levada/graph/detail/op_rules.hpp>
#include <levada/image/view.hpp>

namespace levada {

/// Which colours a Y'CbCr signal means: ITU-R BT.601-7 (standard definition, most webcams) or BT.709-6 (high
/// definition).
enum class ycbcr_matrix : unsigned char { bt601, bt709 };

/// Which codes it uses: `limited`, Y' 16 ... 235 and Cb, Cr 16 ... 240 (BT.601-7 2.5.3, BT.709-6 4.5), or `full`,
/// 0 ... 255 each, as in JPEG (ITU-T T.871).
enum class ycbcr_range : unsigned char { limited, full };

/// The factors of Y'CbCr to R'G'B', whole numbers in units of 2^-14. With Kr, Kb the weights of red and blue in Y', Kg
/// the rest, and s, t what stretches the codes of Y' and of Cb, Cr to 255:
///   R = s (Y' - offset) + 2 t (1 - Kr) (Cr - 128)
///   G = s (Y' - offset) - 2 t (1 - Kb) Kb / Kg (Cb - 128) - 2 t (1 - Kr) Kr / Kg (Cr - 128)
///   B = s (Y' - offset) + 2 t (1 - Kb) (Cb - 128)
/// rounded to the nearest, halves up, and held to 0 ... 255. The factors are within 2^-15, a colour before rounding
/// within 0.016 of the exact one: at most one level beside it, and that only next to a tie.
struct ycbcr_factors {
  static constexpr std::int32_t one = 1 << 14;

  std::int32_t offset, luma, red_cr, green_cb, green_cr, blue_cb;

  constexpr ycbcr_factors(ycbcr_matrix matrix, ycbcr_range range) : ycbcr_factors(weights_of(matrix), range) {}

 private:
  struct weights {
    double red, blue;
  };
  static constexpr weights weights_of(ycbcr_matrix matrix) {
    return matrix == ycbcr_matrix::bt601 ? weights{0.299, 0.114} : weights{0.2126, 0.0722};
  }
  static constexpr std::int32_t rounded(double factor) {
    return static_cast<std::int32_t>(factor * one + (factor < 0 ? -0.5 : 0.5));
  }
  constexpr ycbcr_factors(const weights& k, ycbcr_range range) : offset(range == ycbcr_range::limited ? 16 : 0) {
    const bool limited = range == ycbcr_range::limited;
    const double s = limited ? 255.0 / 219 : 1, t = limited ? 255.0 / 224 : 1, green = 1 - k.red - k.blue;
    luma = rounded(s);
    red_cr = rounded(2 * t * (1 - k.red));
    green_cb = rounded(-2 * t * (1 - k.blue) * k.blue / green);
    green_cr = rounded(-2 * t * (1 - k.red) * k.red / green);
    blue_cb = rounded(2 * t * (1 - k.blue));
  }
};

/// One pixel as R, G, B.
using rgb_pixel = std::array<std::uint8_t, 3>;

/// R, G, B of one Y', Cb, Cr.
template <class = void>
constexpr rgb_pixel rgb_of(const ycbcr_factors& f, std::uint8_t y, std::uint8_t cb, std::uint8_t cr) {
  const std::int32_t luma = f.luma * (y - f.offset) + ycbcr_factors::one / 2;
  const auto level = [](std::int32_t v) {
    return static_cast<std::uint8_t>(v < 0 ? 0 : v >= 256 * ycbcr_factors::one ? 255 : v / ycbcr_factors::one);
  };
  return {level(luma + f.red_cr * (cr - 128)), level(luma + f.green_cb * (cb - 128) + f.green_cr * (cr - 128)),
          level(luma + f.blue_cb * (cb - 128))};
}

/// Pixel (y, x) of a picture as R, G, B: the definition of `to_rgb`. Chroma is that of the cell that the pixel lies in.
template <class Format, std::size_t Height, std::size_t Width>
constexpr rgb_pixel rgb_at(const image_view<Format, Height, Width>& from, const ycbcr_factors& factors, std::size_t y,
                           std::size_t x) {
  const std::uint8_t* const row = from.row(0, y);
  if constexpr (std::same_as<Format, pixel::gray>) {
    return {row[x], row[x], row[x]};
  } else if constexpr (std::same_as<Format, pixel::bgr>) {
    return {row[3 * x + 2], row[3 * x + 1], row[3 * x]};
  } else if constexpr (std::same_as<Format, pixel::nv12>) {
    const std::uint8_t* const chroma = from.row(1, y / 2) + x / 2 * 2;
    return rgb_of(factors, row[x], chroma[0], chroma[1]);
  } else if constexpr (std::same_as<Format, pixel::yuyv>) {
    const std::uint8_t* const pair = row + x / 2 * 4;
    return rgb_of(factors, pair[x % 2 * 2], pair[1], pair[3]);
  } else {
    static_assert(std::same_as<Format, pixel::rgb> || std::same_as<Format, pixel::rgba>);
    const std::size_t at = x * Format::planes[0].bytes;
    return {row[at], row[at + 1], row[at + 2]};
  }
}

/// A picture in foreign memory to bytes H, W, 3. Alpha is left out, gray becomes three equal levels; `Matrix` and
/// `Range` are those of the Y'CbCr formats. Fails with levada::error for a buffer that was given back.
template <ycbcr_matrix Matrix, ycbcr_range Range>
struct to_rgb_op : weightless_op {
  static constexpr std::string_view kind = "to_rgb";
  static constexpr layout gives_axes = layout::hwc;
  static constexpr op_kind fuses_as = op_kind::injective;
  static constexpr std::string_view expects = "an image_buffer or image_view of any pixel format";
  static constexpr ycbcr_factors factors{Matrix, Range};

  template <image_item In>
  using output = tensor<std::uint8_t, image_of<In>::height, image_of<In>::width, 3>;

  /// Four for each pixel of Y'CbCr, five for each pair of chroma.
  template <class In>
  static constexpr double flops = [] {
    using coding = typename image_of<In>::format;
    constexpr double pixels = static_cast<double>(image_of<In>::height * image_of<In>::width);
    return std::same_as<coding, pixel::nv12>   ? pixels * (4 + 5.0 / 4)
           : std::same_as<coding, pixel::yuyv> ? pixels * (4 + 5.0 / 2)
                                               : 0.0;
  }();
};

namespace image {

/// `image::to_rgb<>` of an `image_buffer`; `image::to_rgb<ycbcr_matrix::bt709>` for HD video.
template <ycbcr_matrix Matrix = ycbcr_matrix::bt601, ycbcr_range Range = ycbcr_range::limited>
inline constexpr op_stage<"to_rgb", to_rgb_op<Matrix, Range>> to_rgb{};

}  // namespace image
}  // namespace levada
