// SPDX-License-Identifier: Apache-2.0
#pragma once
// signal/mel.hpp: bins of a spectrum gathered into bands of equal width on the mel scale (ONNX MelWeightMatrix, times
// the input; mel = 2595 log10(1 + f / 700)).

#include <levada/nn/shape_rule.hpp>

namespace levada {

/// What a mel filter bank is made for, in Hz.
struct mel_range {
  double sample_rate = 16'000, low = 0, high = 8'000;
  friend constexpr bool operator==(const mel_range&, const mel_range&) = default;
};

/// output[..., b] = sum over k of input[..., k] * weight(k, b): triangles over the mel scale, each from the centre of
/// the band before to that of the one behind, of height 1 at its own.
template <std::size_t Bands>
struct mel_op : weightless_op {
  static constexpr std::string_view kind = "mel";
  static constexpr op_kind fuses_as = op_kind::reduction;
  static constexpr std::string_view expects =
      "a float or double tensor whose last axis are the bins of a real transform";

  mel_range range{};

  template <floating_tensor In>
    requires(In::rank >= 1 && In::extents[In::rank - 1] >= 2 && Bands >= 1)
  using output = with_last_extent_t<In, Bands>;

  template <class In>
  static constexpr double flops = 4.0 * static_cast<double>(In::elements);  // a bin is part of two bands
};

namespace signal {

/// `signal::mel<40>({.sample_rate = 16'000, .low = 80, .high = 7'600})`
template <std::size_t Bands>
constexpr auto mel(mel_range range) {
  return op_stage<"mel", mel_op<Bands>>{{{}, range}};
}

}  // namespace signal
}  // namespace levada
