// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/blur.hpp: blurs along whole rows. An output row needs `Size` source rows; beside its ends the
// border is written out, so that the taps of neighbouring pixels are loads at neighbouring places.

#include <algorithm>
#include <array>
#include <cstring>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/image/blur.hpp>

namespace levada {

namespace detail {

/// A picture as rows of `row` values, in which a pixel's neighbour is `depth` values away.
template <class In, layout Layout, std::size_t Size>
struct blurred_rows {
  using from = picture<In, Layout>;
  static constexpr std::size_t planes = Layout == layout::chw ? from::channels : 1;
  static constexpr std::size_t depth = from::channels / planes, row = from::width * depth, before = Size / 2;

  /// The value beside the row's ends that stands for the one at `at - before * depth`.
  static constexpr std::size_t mirrored(std::size_t at, std::size_t extent) {
    return at < before ? before - at : at - before < extent ? at - before : 2 * (extent - 1) - (at - before);
  }
  static constexpr std::size_t held(std::size_t at, std::size_t extent) {
    return std::clamp(at, before, before + extent - 1) - before;
  }
};

/// The middle one of an odd number of vectors, lane by lane: of a few more than half of them the smallest and the
/// largest cannot be it and make room for the next (forgetful selection).
template <std::size_t Count, class V, class Load>
LEVADA_INLINE inline V median_of(Load load) {
  constexpr std::size_t kept = Count / 2 + 2;
  V values[kept];
  static_for<kept>([&](auto i) LEVADA_INLINE { values[i] = load(i); });
  const auto sort = [&](std::size_t a, std::size_t b) LEVADA_INLINE {
    const V low = xsimd::min(values[a], values[b]);
    values[b] = xsimd::max(values[a], values[b]);
    values[a] = low;
  };
  // The smallest to the front, the largest to the back of the first `n`; then the next value takes the smallest's
  // place.
  static_for<Count - kept + 1>([&](auto step) LEVADA_INLINE {
    constexpr std::size_t n = kept - step;
    static_for<n - 1>([&](auto i) LEVADA_INLINE { sort(0, i + 1); });
    static_for<(n > 2 ? n - 2 : 0)>([&](auto i) LEVADA_INLINE { sort(i + 1, n - 1); });
    if constexpr (kept + step < Count) values[0] = load(std::integral_constant<std::size_t, kept + step>());
  });
  return values[1];
}

}  // namespace detail

template <class Arch, class In, std::size_t Size, layout Layout>
  requires op_takes<gaussian_blur_op<Size, Layout>, In>
struct simd_kernel<Arch, In, gaussian_blur_op<Size, Layout>> {
  using value = typename In::value_type;

 private:
  using rows = detail::blurred_rows<In, Layout, Size>;
  static constexpr std::size_t lanes = detail::lanes_in<float, Arch>, border = rows::before * rows::depth;

 public:
  static constexpr std::size_t scratch_bytes = detail::round_up((rows::row + 2 * border + lanes) * sizeof(float), 64);

  simd_kernel(const gaussian_blur_op<Size, Layout>& op, parameter_values)
      : weights_(gaussian_weights<Size>(static_cast<double>(op.sigma))) {}

  void operator()(const In& in, In& out, std::byte* scratch) const {
    constexpr std::size_t height = rows::from::height;
    float* down = reinterpret_cast<float*>(scratch);
    for (std::size_t p = 0; p < rows::planes; ++p) {
      const value* plane = in.data() + p * height * rows::row;
      for (std::size_t y = 0; y < height; ++y) {
        std::array<const value*, Size> source;
        for (std::size_t k = 0; k < Size; ++k) source[k] = plane + rows::mirrored(y + k, height) * rows::row;
        join_rows(source, down);
        join_columns(down, out.data() + (p * height + y) * rows::row);
      }
    }
  }

 private:
  using floats = detail::vector<float, Arch>;

  void join_rows(const std::array<const value*, Size>& source, float* down) const {
    using namespace detail;
    std::size_t x = 0;
    for (; x + lanes <= rows::row; x += lanes) {
      floats sum = load_as<float, Arch>(source[0] + x) * floats(weights_[0]);
      static_for<Size - 1>([&](auto k) LEVADA_INLINE {
        sum = multiply_add(load_as<float, Arch>(source[k + 1] + x), floats(weights_[k + 1]), sum);
      });
      sum.store_unaligned(down + border + x);
    }
    if constexpr (rows::row % lanes != 0)
      for (; x < rows::row; ++x) {
        float sum = 0;
        for (std::size_t k = 0; k < Size; ++k) sum += static_cast<float>(source[k][x]) * weights_[k];
        down[border + x] = sum;
      }
    for (std::size_t k = 0; k < rows::before; ++k) {
      const std::size_t behind = k + rows::before + rows::from::width;
      std::memcpy(down + k * rows::depth, pixel(down, k), rows::depth * sizeof(float));
      std::memcpy(down + behind * rows::depth, pixel(down, behind), rows::depth * sizeof(float));
    }
  }
  static const float* pixel(const float* down, std::size_t at) {
    return down + border + rows::mirrored(at, rows::from::width) * rows::depth;
  }

  void join_columns(const float* down, value* out) const {
    using namespace detail;
    std::size_t x = 0;
    for (; x + lanes <= rows::row; x += lanes) store_as(out + x, joined(down + x));
    if constexpr (rows::row % lanes != 0) {
      alignas(Arch::alignment()) float last[lanes];
      joined(down + x).store_aligned(last);
      for (std::size_t k = 0; x < rows::row; ++x, ++k) out[x] = static_cast<value>(last[k]);
    }
  }
  /// The pixels of a vector, bytes half up.
  LEVADA_INLINE floats joined(const float* down) const {
    using namespace detail;
    floats sum = load<float, Arch>(down) * floats(weights_[0]);
    static_for<Size - 1>([&](auto k) LEVADA_INLINE {
      sum = multiply_add(load<float, Arch>(down + (k + 1) * rows::depth), floats(weights_[k + 1]), sum);
    });
    if constexpr (std::is_integral_v<value>) sum = xsimd::min(sum, floats(255.0f)) + floats(0.5f);
    return sum;
  }

  std::array<float, Size> weights_;
};

template <class Arch, class In, std::size_t Size, layout Layout>
  requires op_takes<median_blur_op<Size, Layout>, In> && (Size > 1 && Size <= 5)
struct simd_kernel<Arch, In, median_blur_op<Size, Layout>>
    : detail::plain_simd_kernel<Arch, median_blur_op<Size, Layout>> {
  using op_type = median_blur_op<Size, Layout>;
  using value = typename In::value_type;

 private:
  using rows = detail::blurred_rows<In, Layout, Size>;
  static constexpr std::size_t lanes = detail::lanes_in<value, Arch>, border = rows::before * rows::depth;
  static constexpr std::size_t pitch = rows::row + 2 * border + lanes;

 public:
  static constexpr std::size_t scratch_bytes = detail::round_up(Size * pitch * sizeof(value), 64);

  using detail::plain_simd_kernel<Arch, op_type>::plain_simd_kernel;

  void operator()(const In& in, In& out, std::byte* scratch) const {
    constexpr std::size_t height = rows::from::height;
    value* source = reinterpret_cast<value*>(scratch);
    for (std::size_t p = 0; p < rows::planes; ++p)
      for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t k = 0; k < Size; ++k)
          fill(source + k * pitch, in.data() + (p * height + rows::held(y + k, height)) * rows::row);
        value* to = out.data() + (p * height + y) * rows::row;
        detail::for_each_vector<value, Arch, rows::row>(
            [&](std::size_t x) { median(source + x).store_unaligned(to + x); },
            [&](std::size_t x, auto n) { detail::store_part<n>(to + x, median(source + x)); });
      }
  }

 private:
  /// A row with its ends repeated, and zeros as far as the last vector reads.
  static void fill(value* to, const value* from) {
    for (std::size_t i = 0; i < border; ++i) {
      to[i] = from[i % rows::depth];
      to[border + rows::row + i] = from[rows::row - rows::depth + i % rows::depth];
    }
    std::memcpy(to + border, from, rows::row * sizeof(value));
    std::memset(to + rows::row + 2 * border, 0, lanes * sizeof(value));
  }
  static detail::vector<value, Arch> median(const value* source) {
    return detail::median_of<Size * Size, detail::vector<value, Arch>>([&](auto k) LEVADA_INLINE {
      return detail::load<value, Arch>(source + k / Size * pitch + k % Size * rows::depth);
    });
  }
};

}  // namespace levada
