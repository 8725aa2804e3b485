// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/define/signals.hpp: the ops of signals: transforms, window functions, mel bands.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <levada/backend/detail/definition.hpp>
#include <levada/backend/detail/fourier.hpp>
#include <levada/signal/fft.hpp>
#include <levada/signal/mel.hpp>
#include <levada/signal/taper.hpp>

namespace levada {
namespace detail {

/// What transforms of all rows of a tensor have in common.
template <class In, std::size_t Size>
struct rows_transform {
  using value = typename In::value_type;
  static constexpr std::size_t given = In::extents[In::rank - 1];
  static constexpr std::size_t rows = In::elements / given;
  static constexpr std::size_t bins = transform_size<In, Size> / 2 + 1;
  using transform = real_transform<value, transform_size<In, Size>>;
  static constexpr std::size_t scratch_bytes = transform::scratch_bytes;
  static constexpr std::size_t weight_bytes = transform::table_bytes;

  template <class Op>
  rows_transform(const Op&, parameter_values) {}

  template <class Put>
  void of_all(const In& in, std::byte* scratch, Put put) const {
    for (std::size_t r = 0; r < rows; ++r)
      of_row(in.data() + r * given, given, scratch,
             [&](std::size_t k, value re, value im) { put(r * bins + k, re, im); });
  }

 private:
  transform of_row;
};

}  // namespace detail

template <class Backend, class In, std::size_t Size>
  requires op_takes<rfft_op<Size>, In>
struct definition<Backend, In, rfft_op<Size>> : detail::rows_transform<In, Size> {
  using detail::rows_transform<In, Size>::rows_transform;

  void operator()(const In& in, typename rfft_op<Size>::template output<In>& out, std::byte* scratch) const {
    this->of_all(in, scratch, [&](std::size_t at, auto re, auto im) { out[2 * at] = re, out[2 * at + 1] = im; });
  }
};

template <class Backend, class In, std::size_t Size>
  requires op_takes<power_spectrum_op<Size>, In>
struct definition<Backend, In, power_spectrum_op<Size>> : detail::rows_transform<In, Size> {
  using detail::rows_transform<In, Size>::rows_transform;

  void operator()(const In& in, typename power_spectrum_op<Size>::template output<In>& out, std::byte* scratch) const {
    this->of_all(in, scratch, [&](std::size_t at, auto re, auto im) { out[at] = re * re + im * im; });
  }
};

template <class Backend, class In, window_function Function, window_ends Ends>
  requires op_takes<taper_op<Function, Ends>, In>
struct definition<Backend, In, taper_op<Function, Ends>> {
  using value = typename In::value_type;
  static constexpr std::size_t count = In::extents[In::rank - 1];
  static constexpr std::size_t scratch_bytes = 0;
  static constexpr std::size_t weight_bytes = count * sizeof(value);

  definition(const taper_op<Function, Ends>&, parameter_values) : weights_(count) {
    for (std::size_t t = 0; t < count; ++t)
      weights_[t] = static_cast<value>(detail::window_value(Function, Ends, t, count));
  }

  void operator()(const In& in, In& out, std::byte*) const {
    for (std::size_t row = 0; row < In::elements; row += count)
      for (std::size_t t = 0; t < count; ++t) out[row + t] = in[row + t] * weights_[t];
  }

 private:
  std::vector<value> weights_;
};

template <class Backend, class In, std::size_t Bands>
  requires op_takes<mel_op<Bands>, In>
struct definition<Backend, In, mel_op<Bands>> {
  using value = typename In::value_type;
  static constexpr std::size_t bins = In::extents[In::rank - 1];
  static constexpr std::size_t scratch_bytes = 0;

  definition(const mel_op<Bands>& op, parameter_values) {
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = mel(op.range.low), width = (mel(op.range.high) - low) / (Bands + 1);
    const auto edge = [&](std::size_t b) {  // in bins
      const double hertz = 700 * (std::pow(10, (low + static_cast<double>(b) * width) / 2595) - 1);
      return hertz / op.range.sample_rate * static_cast<double>(2 * (bins - 1));
    };
    for (std::size_t b = 0; b < Bands; ++b) {
      const double left = edge(b), centre = edge(b + 1), right = edge(b + 2);
      const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(left)));
      const auto last =
          static_cast<std::size_t>(std::clamp(std::floor(right), -1.0, static_cast<double>(bins - 1)) + 1);
      bands_[b] = {first, weights_.size(), std::max(first, last) - first};
      for (std::size_t k = first; k < last; ++k) {
        const double at = static_cast<double>(k);
        const double up = centre > left ? (at - left) / (centre - left) : 1;
        const double down = right > centre ? (right - at) / (right - centre) : 1;
        weights_.push_back(static_cast<value>(std::max(0.0, std::min(up, down))));
      }
    }
  }

  void operator()(const In& in, typename mel_op<Bands>::template output<In>& out, std::byte*) const {
    for (std::size_t row = 0; row < In::elements / bins; ++row)
      for (std::size_t b = 0; b < Bands; ++b) {
        const value* x = in.data() + row * bins + bands_[b].first;
        const value* w = weights_.data() + bands_[b].weights;
        value sum = 0;
        for (std::size_t k = 0; k < bands_[b].count; ++k) sum += x[k] * w[k];
        out[row * Bands + b] = sum;
      }
  }

 private:
  struct band {
    std::size_t first, weights, count;
  };
  std::array<band, Bands> bands_{};
  std::vector<value> weights_;
};

}  // namespace levada
