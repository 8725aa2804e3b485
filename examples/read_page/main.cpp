// SPDX-License-Identifier: Apache-2.0
// The text of a page, by PP-OCR's three networks, which CMake makes of their ONNX files: page -> lines; each line cut
// out -> turned if it stands upside down -> text.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../common/png.hpp"
#include "../common/recorded.hpp"
#include "../common/run.hpp"

#include <CLI/CLI.hpp>
#include <levada/levada.hpp>

#include "parts.hpp"

namespace {

using namespace read_page;

struct line {
  line_box at;
  line_text read;
};

/// What is inside a box, 48 high and in its proportions, squeezed where it is longer than a strip.
void cut(const page& from, const line_box& box, strip& to) {
  const float height = box.bottom - box.top, width = box.right - box.left;
  const auto columns = static_cast<std::size_t>(
      std::clamp(std::ceil(strip_height * width / height), 1.0f, static_cast<float>(strip_width)));
  std::fill(to.begin(), to.end(), 0.0f);
  for (std::size_t row = 0; row < strip_height; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      const auto source = [](float begin, float size, std::size_t i, std::size_t count, std::size_t end) {
        const float at = begin + size * (static_cast<float>(i) + 0.5f) / static_cast<float>(count) - 0.5f;
        return std::clamp(at, 0.0f, static_cast<float>(end - 1));
      };
      const float x = source(box.left, width, column, columns, page_width);
      const float falls = box.slope * (x - (box.left + box.right) / 2);
      const float y = source(box.top + falls, height, row, strip_height, page_height);
      const auto top = static_cast<std::size_t>(y), left = static_cast<std::size_t>(x);
      const std::size_t bottom = std::min(top + 1, page_height - 1), right = std::min(left + 1, page_width - 1);
      const float down = y - static_cast<float>(top), along = x - static_cast<float>(left);
      for (std::size_t c = 0; c < 3; ++c) {
        const auto pixel = [&](std::size_t r, std::size_t k) { return static_cast<float>(from(r, k, c)); };
        const float upper = pixel(top, left) + along * (pixel(top, right) - pixel(top, left));
        const float lower = pixel(bottom, left) + along * (pixel(bottom, right) - pixel(bottom, left));
        to(c, row, column) = (upper + down * (lower - upper)) / 127.5f - 1.0f;
      }
    }
}

/// Turned by half a circle; the zeros stay behind the end.
void turn(strip& line) {
  std::size_t end = strip_width;
  const auto is_empty = [&](std::size_t column) {
    for (std::size_t row = 0; row < strip_height; ++row)
      if (line(0, row, column) != 0.0f) return false;
    return true;
  };
  while (end > 0 && is_empty(end - 1)) --end;
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < strip_height * end / 2; ++i) {
      const std::size_t row = i / end, column = i % end;
      std::swap(line(c, row, column), line(c, strip_height - 1 - row, end - 1 - column));
    }
}

/// A line in red.
void mark(page& on, const line_box& box) {
  for (std::size_t x = 0; x < page_width; ++x) {
    const auto column = static_cast<float>(x);
    if (column < box.left || column > box.right) continue;
    const float falls = box.slope * (column - (box.left + box.right) / 2);
    for (std::size_t y = 0; y < page_height; ++y)
      if (static_cast<float>(y) > box.top + falls && static_cast<float>(y) < box.bottom + falls)
        on(y, x, 1) = on(y, x, 2) = static_cast<std::uint8_t>(on(y, x, 1) / 2);
  }
}

/// Whether the networks give what is recorded, of a page and of a line at a fixed place.
bool are_as_recorded(const std::filesystem::path& recorded, const page& picture, const std::string& keys) {
  constexpr line_box fourth{4.0f, 80.0f, 380.0f, 97.0f, 0.0f};
  example::recorded_outputs lines(recorded / "lines.safetensors"), turn(recorded / "turn.safetensors"),
      text(recorded / "text.safetensors");
  std::vector<float> map;
  const auto find = make_finder(&map);
  (void)find(picture);
  // This network makes much of little at the rims of letters: of the same input ONNX Runtime is off by 2.1e-5 beside
  // float64, levada by 5.1e-5, and the last bits of the resized page change its output by 3.8e-4.
  lines.check("sigmoid_0.tmp_0", map, 1e-3);
  const auto line = std::make_unique<strip>();
  cut(picture, fourth, *line);
  const turn_scores turned = make_turner()(*line);
  turn.check("softmax_0.tmp_0", {turned.data(), turned.size()});
  const auto reader = make_reader(keys, &map);
  (void)reader(*line);
  text.check("softmax_11.tmp_0", map);
  return lines.report() && turn.report() && text.report();
}

int read(const std::string& from, const std::string& to, const std::string& keys, const std::string& expected,
         const std::string& recorded) {
  for (const std::string& file : {from, keys})
    if (!std::filesystem::exists(file)) throw example::missing_data(file + " is not there.");
  const auto picture = std::make_unique<page>();
  example::read_png(from, *picture);

  if (!recorded.empty() && !are_as_recorded(recorded, *picture, keys)) return 1;

  const auto find = make_finder();
  const auto upside_down = make_turner();
  const auto reader = make_reader(keys);
  // clang-format off
  const auto each = lv::join<"cut", strip>(cut)
      | lv::in_place<"turn">(lv::parallel([&](strip& s) { if (upside_down(s)[1] > 0.9f) turn(s); }))
      | lv::stage<"read">(lv::parallel([&](const strip& s) { return reader(s); }));
  const auto all = lv::input<page>
      | lv::graph(lv::port<"page", page>,
                  lv::node<"boxes", "page">(lv::stage<"find">(lv::parallel([&](const page& p) { return find(p); }))),
                  lv::node<"texts", "page", "boxes">(lv::for_each<"each line", most_lines>(each) | lv::collect),
                  lv::node<"lines", "boxes", "texts">(lv::join<"lines">(
                      [](const line_boxes& boxes, const lv::bounded<line_text, most_lines>& texts) {
                        lv::bounded<line, most_lines> lines;
                        for (std::size_t i = 0; i < boxes.size(); ++i) lines.push_back({boxes[i], texts[i]});
                        return lines;
                      })),
                  lv::output<"lines", "lines">);
  // clang-format on
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(all);

  const auto lines = app(*picture);
  std::string text;
  for (const line& l : lines) {
    std::printf("%5.1f %%  %.*s\n", static_cast<double>(100 * l.read.certainty), static_cast<int>(l.read.size),
                l.read.bytes.data());
    text += std::string(l.read.text()) + "\n";
    mark(*picture, l.at);
  }
  example::write_png(to, *picture);
  std::printf("%zu lines, marked in %s\n", lines.size(), to.c_str());
  return expected.empty() || text.find(expected) != std::string::npos ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string picture = "/usr/lib/python3/dist-packages/skimage/data/page.png", output = "page_lines.png", keys,
              expected, recorded;
  CLI::App arguments("Reads the text of a page.");
  arguments.add_option("--picture", picture, "A PNG of 384 x 191 pixels")->capture_default_str();
  arguments.add_option("--output", output, "Where the page with its lines goes")->capture_default_str();
  arguments.add_option("--keys", keys, "The characters that the recogniser knows, a line each")->required();
  arguments.add_option("--expect", expected, "Text that has to be found");
  arguments.add_option("--recorded", recorded, "A folder of outputs of ONNX Runtime for that picture");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return read(picture, output, keys, expected, recorded); });
}
