// SPDX-License-Identifier: Apache-2.0
#pragma once
// read_page/parts.hpp: the three networks of PP-OCR, each a pipeline of its own translation unit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <levada/core/tensor.hpp>
#include <levada/run/any_pipeline.hpp>

namespace read_page {

namespace lv = levada;

constexpr std::size_t page_height = 191, page_width = 384, most_lines = 32;
using page = lv::tensor<std::uint8_t, page_height, page_width, 3>;

/// A line in pixels of the page: its ends, where it stands at its middle, and how much it falls a pixel to the right.
struct line_box {
  float left = 0, top = 0, right = 0, bottom = 0, slope = 0;
};
using line_boxes = lv::bounded<line_box, most_lines>;

/// A line as the recogniser wants it: planes from -1 to 1, 48 high, zeros behind its end.
constexpr std::size_t strip_height = 48, strip_width = 960;
using strip = lv::tensor<float, 3, strip_height, strip_width>;

/// UTF-8.
struct line_text {
  std::array<char, 384> bytes{};
  std::size_t size = 0;
  float certainty = 0;  ///< the mean of its characters

  std::string_view text() const { return {bytes.data(), size}; }
};

using turn_scores = lv::tensor<float, 2>;

/// Where the lines are. `map`, where it is given, becomes what the network said of the last page.
lv::any_pipeline<line_boxes(page)> make_finder(std::vector<float>* map = nullptr);
/// The probability that a line stands upside down.
lv::any_pipeline<turn_scores(strip)> make_turner();
/// What is written there. `map`, where it is given, becomes what the network said of the last line.
lv::any_pipeline<line_text(strip)> make_reader(std::string_view keys_file, std::vector<float>* map = nullptr);

}  // namespace read_page
