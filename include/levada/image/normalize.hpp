// SPDX-License-Identifier: Apache-2.0
#pragma once
// image/normalize.hpp: each channel brought to the mean and spread that a model was trained on.

#include <array>

#include <levada/image/layout.hpp>

namespace levada {

/// output[c, y, x] = (input[c, y, x] * scale - mean[c]) / deviation[c], in float.
template <std::size_t Channels>
struct normalize_op : weightless_op {
  static constexpr std::string_view kind = "normalize";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr op_kind fuses_as = op_kind::broadcast;
  static constexpr std::string_view expects =
      "a tensor of float or uint8 channels, height, width, as many channels as means";

  std::array<float, Channels> mean{}, deviation{};
  float scale = 1;

  constexpr normalize_op() = default;
  constexpr normalize_op(const std::array<float, Channels>& m, const std::array<float, Channels>& d, float s)
      : mean(m), deviation(d), scale(s) {}

  template <image_tensor In>
    requires(In::extents[0] == Channels &&
             (std::same_as<typename In::value_type, float> || std::same_as<typename In::value_type, std::uint8_t>))
  using output = with_element_t<float, In>;

  template <class In>
  static constexpr double flops = 2.0 * static_cast<double>(In::elements);
};

namespace image {

/// Normalises with one mean and one standard deviation per channel, after a multiplication by `scale`:
/// `image::normalize(std::array{0.485f, 0.456f, 0.406f}, std::array{0.229f, 0.224f, 0.225f}, 1 / 255.0f)`.
template <fixed_string Name = "normalize", std::size_t Channels>
constexpr auto normalize(const std::array<float, Channels>& mean, const std::array<float, Channels>& deviation,
                         float scale = 1) {
  return op_stage<Name, normalize_op<Channels>>{normalize_op<Channels>(mean, deviation, scale), {}};
}

}  // namespace image
}  // namespace levada
