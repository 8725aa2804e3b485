// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/nv12_to_planes.hpp: a camera's NV12 to small normalised planes in one pass. Of a picture that
// becomes half as wide or less, only the pixels that an output pixel lies between are made colours, and what they give
// is mixed, rounded and normalised in registers.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/nv12_columns.hpp>
#include <levada/backend/simd/detail/to_rgb.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/image/normalize.hpp>
#include <levada/image/resize.hpp>
#include <levada/image/to_chw.hpp>

namespace levada {

template <class Set, class In, ycbcr_matrix Matrix, ycbcr_range Range, std::size_t Height, std::size_t Width,
          class... End>
  requires detail::run_takes<In, to_rgb_op<Matrix, Range>, resize_op<Height, Width, resize_mode::bilinear, layout::hwc>,
                             to_chw_op, End...> &&
           (std::same_as<End, normalize_op<3>> && ...) &&
           (sizeof...(End) <= 1) && std::same_as<typename image_of<In>::format, pixel::nv12> &&
           (Width >= detail::lanes_in<float, Set> && image_of<In>::width >= 2 * Width)
struct simd_kernel<Set, In, to_rgb_op<Matrix, Range>, resize_op<Height, Width, resize_mode::bilinear, layout::hwc>,
                   to_chw_op, End...> {
  using resize = resize_op<Height, Width, resize_mode::bilinear, layout::hwc>;
  using out_type = tensor<float, 3, Height, Width>;

 private:
  /// The shuffles that pick columns are those of AVX2.
  using Arch = isa::at_most_256_bits<Set>;
  using view = image_of<In>;
  using terms = detail::chroma_terms<Arch>;
  using floats = detail::vector<float, Arch>;
  static constexpr std::size_t lanes = detail::lanes_in<float, Arch>;
  using words = typename detail::raw_vector<std::uint32_t, lanes>::type;
  using signed_words = typename detail::raw_vector<std::int32_t, lanes>::type;
  static constexpr const ycbcr_factors& factors = to_rgb_op<Matrix, Range>::factors;

  using columns = detail::nv12_columns<Arch, to_rgb_op<Matrix, Range>::factors, view::width, Width>;
  static constexpr bool shuffles = lanes == 8 && columns::possible;

  /// Of a row of the picture, for each output column: two neighbours of Y', and two pairs of Cb, Cr.
  struct picked {
    std::array<std::uint16_t, Width> luma;
    std::array<std::uint32_t, Width> chroma;
  };

 public:
  static constexpr std::size_t scratch_bytes = 2 * sizeof(picked);

  simd_kernel(const to_rgb_op<Matrix, Range>&, const resize& op, const to_chw_op&, const End&... end, parameter_values)
      : extrapolation_(filtered<std::uint8_t>(op.rule.extrapolation)) {
    (normalize_by(end), ...);
    const auto rows = resize_axis::rows(resize_mode::bilinear, op.rule, view::height, Height);
    const auto across = resize_axis::columns(resize_mode::bilinear, op.rule, view::width, Width);
    for (std::size_t y = 0; y < Height; ++y) rows_[y] = rows.tap(y);
    for (std::size_t x = 0; x < Width; ++x) place_column(x, across.tap(x));
    if constexpr (shuffles) shuffles_all_ = columns_.fill(luma_place_, column_weight_, between_);
  }

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    const view& from = view_of(in);
    auto& rows = *::new (static_cast<void*>(scratch)) std::array<picked, 2>;
    for (std::size_t y = 0; y < Height; ++y) {
      float* const to = out.data() + y * Width;
      if (!rows_[y].outside) write_row(from, rows_[y], rows, to);
      if (rows_[y].outside || any_outside_)
        for (std::size_t x = 0; x < Width; ++x)
          if (rows_[y].outside || outside_[x]) write_extrapolation(to + x);
    }
  }

 private:
  void normalize_by(const normalize_op<3>& op) {
    for (std::size_t c = 0; c < 3; ++c) {
      factor_[c] = op.scale / op.deviation[c];
      offset_[c] = -op.mean[c] / op.deviation[c];
    }
  }

  /// Both pixels of a column are read by one load, and their chroma by another. At a border both are the same one: the
  /// other then weighs nothing.
  void place_column(std::size_t x, const resize_tap& tap) {
    constexpr std::int32_t last = static_cast<std::int32_t>(view::width) - 2;
    const std::int32_t first = std::min(tap.place[0], last), pair = std::min(first / 2, last / 2 - 1);
    luma_place_[x] = first;
    chroma_place_[x] = 2 * pair;
    column_weight_[x] = tap.place[0] != tap.place[1] ? tap.weight[1] : tap.place[0] > last ? 1.0f : 0.0f;
    second_chroma_[0][x] = first / 2 == pair ? 0 : -1;
    second_chroma_[1][x] = (first + 1) / 2 == pair ? 0 : -1;
    outside_[x] = tap.outside;
    any_outside_ = any_outside_ || tap.outside;
    between_ = between_ || column_weight_[x] != 0;
  }

  void write_extrapolation(float* to) const {
    for (std::size_t c = 0; c < 3; ++c)
      to[c * Height * Width] = static_cast<float>(extrapolation_) * factor_[c] + offset_[c];
  }

  void write_row(const view& from, const resize_tap& tap, std::array<picked, 2>& rows, float* to) const {
    const auto upper = static_cast<std::size_t>(tap.place[0]), lower = static_cast<std::size_t>(tap.place[1]);
    const std::array<const std::uint8_t*, 2> luma{from.row(0, upper), from.row(0, lower)},
        chroma{from.row(1, upper / 2), from.row(1, lower / 2)};
    const auto write = [&](auto one_chroma, auto between) {
      if constexpr (shuffles) {
        columns_.template write<one_chroma(), between()>({luma, chroma, tap.weight[1]}, factor_, offset_, to,
                                                         Height * Width);
      } else {
        pick<one_chroma()>(luma, chroma, rows);
        write_columns<one_chroma(), between()>(rows, tap.weight[1], to);
      }
    };
    const bool shared = upper / 2 == lower / 2;
    if (shuffles && !shuffles_all_) {
      pick<false>(luma, chroma, rows);
      write_columns<false, true>(rows, tap.weight[1], to);
    } else if (between_) {
      shared ? write(std::true_type(), std::true_type()) : write(std::false_type(), std::true_type());
    } else {
      shared ? write(std::true_type(), std::false_type()) : write(std::false_type(), std::false_type());
    }
  }

  template <bool OneChroma>
  void pick(const std::array<const std::uint8_t*, 2>& luma, const std::array<const std::uint8_t*, 2>& chroma,
            std::array<picked, 2>& to) const {
    for (std::size_t x = 0; x < Width; ++x) {
      const std::int32_t at = luma_place_[x], chroma_at = chroma_place_[x];
      std::memcpy(&to[0].luma[x], luma[0] + at, sizeof to[0].luma[x]);
      std::memcpy(&to[1].luma[x], luma[1] + at, sizeof to[1].luma[x]);
      std::memcpy(&to[0].chroma[x], chroma[0] + chroma_at, sizeof to[0].chroma[x]);
      if constexpr (!OneChroma) std::memcpy(&to[1].chroma[x], chroma[1] + chroma_at, sizeof to[1].chroma[x]);
    }
  }

  /// Whole vectors of columns, of which the last two may overlap.
  template <bool OneChroma, bool Between>
  void write_columns(const std::array<picked, 2>& rows, float row_weight, float* to) const {
    std::size_t x = 0;
    for (; x + lanes <= Width; x += lanes) write_block<OneChroma, Between>(rows, x, row_weight, to + x);
    if constexpr (Width % lanes != 0)
      write_block<OneChroma, Between>(rows, Width - lanes, row_weight, to + Width - lanes);
  }

  template <bool OneChroma, bool Between>
  LEVADA_INLINE void write_block(const std::array<picked, 2>& rows, std::size_t x, float row_weight, float* to) const {
    const floats down(row_weight), across = detail::load<float, Arch>(&column_weight_[x]);
    const words luma[2] = {luma_at(rows[0], x), luma_at(rows[1], x)};
    std::array<floats, 3> upper, lower;
    detail::static_for<Between ? 2 : 1>([&](auto k) LEVADA_INLINE {
      const terms above = terms_of(chroma_at<k>(rows[0], x)),
                  below = OneChroma ? above : terms_of(chroma_at<k>(rows[1], x));
      const auto above_colours = above.template colours<factors>(level<k>(luma[0]));
      const auto below_colours = below.template colours<factors>(level<k>(luma[1]));
      detail::static_for<3>([&](auto c) LEVADA_INLINE {
        upper[c] = k == 0 ? above_colours[c] : detail::multiply_add(above_colours[c] - upper[c], across, upper[c]);
        lower[c] = k == 0 ? below_colours[c] : detail::multiply_add(below_colours[c] - lower[c], across, lower[c]);
      });
    });
    detail::static_for<3>([&](auto c) LEVADA_INLINE {
      const floats mixed = detail::multiply_add(lower[c] - upper[c], down, upper[c] + floats(0.5f));
      detail::multiply_add(xsimd::trunc(mixed), floats(factor_[c]), floats(offset_[c]))
          .store_unaligned(to + c * Height * Width);
    });
  }

  /// Of a vector of columns both neighbours of Y' in a word, and Cb, Cr of the K-th in its lower half.
  LEVADA_INLINE static words luma_at(const picked& row, std::size_t x) {
    return detail::load_words<Arch, std::uint16_t>(reinterpret_cast<const std::uint8_t*>(&row.luma[x]));
  }
  template <std::size_t K>
  LEVADA_INLINE words chroma_at(const picked& row, std::size_t x) const {
    words pairs;
    signed_words second;
    std::memcpy(&pairs, &row.chroma[x], sizeof pairs);
    std::memcpy(&second, &second_chroma_[K][x], sizeof second);
    return second ? pairs >> 16 : pairs;
  }
  template <std::size_t K>
  LEVADA_INLINE static floats level(const words& neighbours) {
    return detail::floats_of<Arch>(K == 0 ? neighbours & 255 : neighbours >> 8);
  }
  LEVADA_INLINE static terms terms_of(const words& pairs) {
    return terms::template of<factors>(detail::floats_of<Arch>(pairs & 255), detail::floats_of<Arch>(pairs >> 8 & 255));
  }

  std::array<float, 3> factor_{1, 1, 1}, offset_{};
  std::uint8_t extrapolation_;
  bool any_outside_ = false, between_ = false;
  std::array<resize_tap, Height> rows_;
  std::array<std::int32_t, Width> luma_place_, chroma_place_;
  std::array<float, Width> column_weight_;
  std::array<std::array<std::int32_t, Width>, 2> second_chroma_;
  std::array<bool, Width> outside_;
  bool shuffles_all_ = false;
  [[no_unique_address]] std::conditional_t<shuffles, columns, std::false_type> columns_;
};

}  // namespace levada
