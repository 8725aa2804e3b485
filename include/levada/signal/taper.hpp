// SPDX-License-Identifier: Apache-2.0
#pragma once
// signal/taper.hpp: samples weighed by a window function (ONNX HannWindow, HammingWindow, BlackmanWindow, times the
// input).

#include <cmath>
#include <numbers>

#include <levada/nn/shape_rule.hpp>

namespace levada {

/// Sums of cosines: a0 - a1 cos(2 pi t / n) + a2 cos(4 pi t / n).
enum class window_function : std::uint8_t { hann, hamming, blackman };

/// Whether n is the number of samples, for spectra, or one less, symmetric, for filters.
enum class window_ends : std::uint8_t { periodic, symmetric };

namespace detail {

inline double window_value(window_function f, window_ends ends, std::size_t t, std::size_t count) {
  const double n = static_cast<double>(ends == window_ends::periodic || count == 1 ? count : count - 1);
  const double phase = 2 * std::numbers::pi * static_cast<double>(t) / n;
  switch (f) {
    case window_function::hann:
      return 0.5 - 0.5 * std::cos(phase);
    case window_function::hamming:
      return 25.0 / 46.0 - 21.0 / 46.0 * std::cos(phase);
    case window_function::blackman:
      return 0.42 - 0.5 * std::cos(phase) + 0.08 * std::cos(2 * phase);
  }
  return 1;
}

}  // namespace detail

/// output[..., t] = input[..., t] * window(t).
template <window_function Function, window_ends Ends = window_ends::periodic>
struct taper_op : weightless_op, in_place_op {
  static constexpr std::string_view kind = "taper";
  static constexpr op_kind fuses_as = op_kind::element_wise;
  static constexpr std::string_view expects = "a float or double tensor of at least one axis";
};

namespace signal {

template <window_function Function, window_ends Ends = window_ends::periodic>
inline constexpr op_stage<"taper", taper_op<Function, Ends>> taper{};

}  // namespace signal
}  // namespace levada
