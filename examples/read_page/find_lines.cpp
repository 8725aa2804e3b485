// SPDX-License-Identifier: Apache-2.0
// The detector: how likely each pixel belongs to a line, and the boxes around what is likely (differentiable
// binarisation, Liao and others, 2020).

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <levada/levada.hpp>
#include <page_lines.onnx.hpp>

#include "parts.hpp"

namespace read_page {
namespace {

constexpr std::size_t map_height = 384, map_width = 768;
using likely = lv::tensor<float, 1, map_height, map_width>;

struct pixel {
  std::uint16_t y, x;
};

/// The box around the pixels of a line, which the network leaves too small by a margin (unclipping). A line may fall or
/// rise: its slope is that of the straight line through its pixels.
line_box box_around(std::span<const pixel> pixels) {
  constexpr float unclip = 1.5f;
  double x_sum = 0, y_sum = 0, xx = 0, xy = 0;
  for (const pixel& p : pixels) x_sum += p.x, y_sum += p.y;
  const auto count = static_cast<double>(pixels.size());
  const double x_mean = x_sum / count, y_mean = y_sum / count;
  for (const pixel& p : pixels) xx += (p.x - x_mean) * (p.x - x_mean), xy += (p.x - x_mean) * (p.y - y_mean);
  const auto slope = static_cast<float>(xx == 0 ? 0 : xy / xx);
  float left = map_width, right = 0, above = 0, below = 0;
  for (const pixel& p : pixels) {
    const float off = static_cast<float>(p.y - y_mean) - slope * static_cast<float>(p.x - x_mean);
    left = std::min(left, static_cast<float>(p.x)), right = std::max(right, static_cast<float>(p.x + 1));
    above = std::min(above, off - 0.5f), below = std::max(below, off + 0.5f);
  }
  const float width = right - left, height = below - above, margin = width * height * unclip / (2 * (width + height));
  const float middle = static_cast<float>(y_mean + 0.5) + slope * ((left + right) / 2 - static_cast<float>(x_mean));
  constexpr float y_scale = static_cast<float>(page_height) / map_height;
  constexpr float x_scale = static_cast<float>(page_width) / map_width;
  return {(left - margin) * x_scale, (middle + above - margin) * y_scale, (right + margin) * x_scale,
          (middle + below + margin) * y_scale, slope * y_scale / x_scale};
}

/// The lines of a map: connected pixels above a threshold that are likely in the mean.
class lines_of {
 public:
  explicit lines_of(std::vector<float>* seen) : seen_map_(seen) {}

  line_boxes operator()(const likely& map) {
    if (seen_map_ != nullptr) seen_map_->assign(map.begin(), map.end());
    constexpr double least_mean = 0.6;
    std::fill(seen_.begin(), seen_.end(), char{0});
    line_boxes found;
    for (std::size_t y = 0; y < map_height; ++y)
      for (std::size_t x = 0; x < map_width; ++x) {
        const std::span<const pixel> pixels = connected(map, y, x);
        double sum = 0;
        for (const pixel& p : pixels) sum += static_cast<double>(map(0, p.y, p.x));
        if (pixels.size() < 16 || sum < least_mean * static_cast<double>(pixels.size())) continue;
        if (!found.try_push_back(box_around(pixels))) return found;
      }
    std::sort(found.begin(), found.end(), [](const line_box& a, const line_box& b) { return a.top < b.top; });
    return found;
  }

 private:
  /// The pixels above the threshold around one that were not seen before.
  std::span<const pixel> connected(const likely& map, std::size_t y, std::size_t x) {
    std::size_t count = 0;
    const auto visit = [&](std::size_t row, std::size_t column) {
      char& seen = seen_[row * map_width + column];
      if (seen != 0 || map(0, row, column) < 0.3f) return;
      seen = 1;
      pixels_[count++] = {static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(column)};
    };
    visit(y, x);
    for (std::size_t next = 0; next < count; ++next) {
      const auto [row, column] = pixels_[next];
      if (row > 0) visit(row - 1u, column);
      if (column > 0) visit(row, column - 1u);
      if (row + 1u < map_height) visit(row + 1u, column);
      if (column + 1u < map_width) visit(row, column + 1u);
    }
    return {pixels_.data(), count};
  }

  std::vector<float>* seen_map_;
  std::vector<pixel> pixels_ = std::vector<pixel>(map_height * map_width);
  std::vector<char> seen_ = std::vector<char>(map_height * map_width);
};

}  // namespace

lv::any_pipeline<line_boxes(page)> make_finder(std::vector<float>* map) {
  const lv::safetensors weights{page_lines::weights_file};
  // clang-format off
  auto find = lv::input<page>
      | lv::image::resize<map_height, map_width, lv::resize_mode::bilinear, lv::layout::hwc>
      | lv::image::to_chw
      | lv::image::normalize(std::array{0.485f, 0.456f, 0.406f}, std::array{0.229f, 0.224f, 0.225f}, 1 / 255.0f)
      | page_lines::graph(weights)
      | lv::stage<"boxes">(lines_of(map));
  // clang-format on
  return lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(std::move(find));
}

}  // namespace read_page
