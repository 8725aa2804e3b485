// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/simd/detail/resize.hpp: resize and letterbox: the source rows of an output row are mixed over their whole
// width, then the columns are picked and mixed.

#include <algorithm>
#include <array>
#include <cstdint>

#include <levada/backend/simd/detail/kernel.hpp>
#include <levada/backend/simd/detail/vector.hpp>
#include <levada/image/letterbox.hpp>
#include <levada/image/resize.hpp>

namespace levada {

namespace detail {

/// Resizes the pictures of type `In` to `Height` x `Width`, into rows that lie `Pitch` elements apart, planes `Plane`
/// apart.
template <class Arch, class In, resize_mode Mode, layout Layout, std::size_t Height, std::size_t Width,
          std::size_t Pitch, std::size_t Plane>
class simd_resize {
 public:
  using value = typename In::value_type;

 private:
  using from = picture<In, Layout>;
  // A row of planes has one value a column, an interleaved row all channels.
  static constexpr std::size_t planes = Layout == layout::chw ? from::channels : 1;
  static constexpr std::size_t depth = from::channels / planes;
  static constexpr std::size_t row_in = from::width * depth, row_out = Width * depth;
  static constexpr std::size_t taps = taps_of(Mode), lanes = lanes_in<float, Arch>;
  using floats = vector<float, Arch>;

 public:
  static constexpr std::size_t scratch_bytes = Mode == resize_mode::nearest ? 0 : round_up(row_in * sizeof(float), 64);

  explicit simd_resize(const resize_rule& rule) : extrapolation_(filtered<value>(rule.extrapolation)) {
    const auto rows = resize_axis::rows(Mode, rule, from::height, Height);
    const auto columns = resize_axis::columns(Mode, rule, from::width, Width);
    for (std::size_t y = 0; y < Height; ++y) rows_[y] = rows.tap(y);
    for (std::size_t x = 0; x < Width; ++x) {
      const resize_tap tap = columns.tap(x);
      any_outside_ = any_outside_ || tap.outside;
      for (std::size_t c = 0; c < depth; ++c) {
        outside_[x * depth + c] = tap.outside;
        for (std::size_t k = 0; k < taps; ++k) {
          place_[k][x * depth + c] = tap.place[k] * static_cast<std::int32_t>(depth) + static_cast<std::int32_t>(c);
          weight_[k][x * depth + c] = tap.weight[k];
        }
      }
    }
  }

  void operator()(const value* in, value* out, std::byte* scratch) const {
    for (std::size_t p = 0; p < planes; ++p)
      for (std::size_t y = 0; y < Height; ++y)
        row(in + p * from::height * row_in, rows_[y], out + p * Plane + y * Pitch, reinterpret_cast<float*>(scratch));
  }

 private:
  void row(const value* plane, const resize_tap& tap, value* target, float* mixed) const {
    if (tap.outside) {
      std::fill_n(target, row_out, extrapolation_);
      return;
    }
    if constexpr (Mode == resize_mode::nearest) {
      const value* source = plane + static_cast<std::size_t>(tap.place[0]) * row_in;
      for (std::size_t x = 0; x < row_out; ++x) target[x] = source[place_[0][x]];
    } else {
      mix_rows(plane, tap, mixed);
      mix_columns(mixed, target);
    }
    if (any_outside_)
      for (std::size_t x = 0; x < row_out; ++x) target[x] = outside_[x] ? extrapolation_ : target[x];
  }

  /// The elements `at(0)`, `at(1)`, ... joined by their weights.
  template <class V, class At, class Weight>
  LEVADA_INLINE static V joined(At at, Weight weight) {
    if constexpr (Mode == resize_mode::bilinear) {
      const V a = at(0);
      return a + (at(1) - a) * weight(1);
    } else {
      V sum = at(0) * weight(0);
      for (std::size_t k = 1; k < taps; ++k) sum = sum + at(k) * weight(k);
      return sum;
    }
  }

  static void mix_rows(const value* plane, const resize_tap& tap, float* mixed) {
    std::array<const value*, taps> source;
    for (std::size_t k = 0; k < taps; ++k) source[k] = plane + static_cast<std::size_t>(tap.place[k]) * row_in;
    std::size_t x = 0;
    for (; x + lanes <= row_in; x += lanes)
      joined<floats>([&](std::size_t k) LEVADA_INLINE { return load_as<float, Arch>(source[k] + x); },
                     [&](std::size_t k) LEVADA_INLINE { return floats(tap.weight[k]); })
          .store_unaligned(mixed + x);
    if constexpr (row_in % lanes != 0)
      for (; x < row_in; ++x)
        mixed[x] = joined<float>([&](std::size_t k) { return static_cast<float>(source[k][x]); },
                                 [&](std::size_t k) { return tap.weight[k]; });
  }

  void mix_columns(const float* mixed, value* target) const {
    using indices = vector<std::int32_t, Arch>;
    std::size_t x = 0;
    for (; x + lanes <= row_out; x += lanes) {
      const auto pixel = [&](std::size_t k)
                             LEVADA_INLINE { return floats::gather(mixed, indices::load_unaligned(&place_[k][x])); };
      const auto weight = [&](std::size_t k) LEVADA_INLINE { return load<float, Arch>(&weight_[k][x]); };
      floats result = joined<floats>(pixel, weight);
      if constexpr (std::is_integral_v<value>) {
        // Between two bytes lies nothing that is none.
        if constexpr (Mode == resize_mode::bicubic)
          result = xsimd::min(xsimd::max(result, floats(0.0f)), floats(255.0f));
        result = result + floats(0.5f);
      }
      store_as(target + x, result);
    }
    if constexpr (row_out % lanes != 0)
      for (; x < row_out; ++x)
        target[x] = filtered<value>(joined<float>([&](std::size_t k) { return mixed[place_[k][x]]; },
                                                  [&](std::size_t k) { return weight_[k][x]; }));
  }

  value extrapolation_;
  bool any_outside_ = false;
  std::array<resize_tap, Height> rows_;
  std::array<std::array<std::int32_t, row_out>, taps> place_;
  std::array<std::array<float, row_out>, taps> weight_;
  std::array<bool, row_out> outside_;
};

/// The elements from a row of a picture to the next, and from a plane to the next.
template <class Out, layout Layout>
inline constexpr std::size_t row_pitch =
    picture<Out, Layout>::width * (Layout == layout::chw ? 1 : picture<Out, Layout>::channels);
template <class Out, layout Layout>
inline constexpr std::size_t plane_pitch = row_pitch<Out, Layout> * picture<Out, Layout>::height;

}  // namespace detail

template <class Arch, class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<resize_op<Height, Width, Mode, Layout>, In>
struct simd_kernel<Arch, In, resize_op<Height, Width, Mode, Layout>> {
  using op_type = resize_op<Height, Width, Mode, Layout>;
  using out_type = typename op_type::template output<In>;

 private:
  using method = detail::simd_resize<Arch, In, Mode, Layout, Height, Width, detail::row_pitch<out_type, Layout>,
                                     detail::plane_pitch<out_type, Layout>>;

 public:
  static constexpr std::size_t scratch_bytes = method::scratch_bytes;

  simd_kernel(const op_type& op, parameter_values) : method_(op.rule) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const { method_(in.data(), out.data(), scratch); }

 private:
  method method_;
};

template <class Arch, class In, std::size_t Height, std::size_t Width, resize_mode Mode, layout Layout>
  requires op_takes<letterbox_op<Height, Width, Mode, Layout>, In>
struct simd_kernel<Arch, In, letterbox_op<Height, Width, Mode, Layout>> {
  using op_type = letterbox_op<Height, Width, Mode, Layout>;
  using out_type = typename op_type::template output<In>;
  using value = typename In::value_type;

 private:
  static constexpr letterbox_place place = op_type::template place<In>;
  using method = detail::simd_resize<Arch, In, Mode, Layout, place.height, place.width,
                                     detail::row_pitch<out_type, Layout>, detail::plane_pitch<out_type, Layout>>;

 public:
  static constexpr std::size_t scratch_bytes = method::scratch_bytes;

  simd_kernel(const op_type& op, parameter_values) : fill_(filtered<value>(op.fill)), method_({}) {}

  void operator()(const In& in, out_type& out, std::byte* scratch) const {
    out.fill(fill_);
    method_(in.data(), out.data() + picture<out_type, Layout>::at(0, place.top, place.left), scratch);
  }

 private:
  value fill_;
  method method_;
};

}  // namespace levada
