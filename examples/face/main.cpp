// SPDX-License-Identifier: Apache-2.0
// Faces on a photograph, by MediaPipe's BlazeFace, which CMake makes of its ONNX file: bytes -> 128 x 128 -> network ->
// faces with their eyes, nose, mouth and ears. The faces are drawn into a PNG.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "../common/png.hpp"
#include "../common/recorded.hpp"
#include "../common/run.hpp"

#include <CLI/CLI.hpp>
#include <face_front.onnx.hpp>
#include <levada/interop/report.hpp>

namespace {

namespace lv = levada;

constexpr std::size_t side = 128, extent = 512, most_faces = 16;
using photograph = lv::tensor<std::uint8_t, extent, extent, 3>;

struct point {
  float x = 0, y = 0;  ///< in parts of the photograph
};
struct face {
  float score = 0;
  point low, high;              ///< the corners of its box
  std::array<point, 6> points;  ///< eyes, nose, mouth, ears
};

/// What the network gives, and the faces in it.
struct detection {
  face_front::Identity_result scores;
  face_front::Identity_1_result coarse_scores;
  face_front::Identity_2_result boxes;
  face_front::Identity_3_result coarse_boxes;
  std::array<face, most_faces> faces;
  std::size_t found = 0;
};

float overlap(const face& a, const face& b) {
  const auto area = [](point low, point high) {
    return std::max(0.0f, high.x - low.x) * std::max(0.0f, high.y - low.y);
  };
  const float both = area({std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)},
                          {std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)});
  return both / (area(a.low, a.high) + area(b.low, b.high) - both);
}

/// The best face of each place. Boxes stand about the middles of a grid's cells, some for each cell.
template <class Scores, class Boxes>
void collect(const Scores& scores, const Boxes& boxes, std::size_t grid, std::size_t each, detection& into) {
  for (std::size_t i = 0; i < Scores::extents[0]; ++i) {
    const float score = 1 / (1 + std::exp(-std::clamp(scores(i, 0), -100.0f, 100.0f)));
    if (score < 0.5f) continue;
    const std::size_t cell = i / each;
    const point middle{(static_cast<float>(cell % grid) + 0.5f) / static_cast<float>(grid),
                       (static_cast<float>(cell / grid) + 0.5f) / static_cast<float>(grid)};
    const auto place = [&](std::size_t at) {
      return point{boxes(i, at) / side + middle.x, boxes(i, at + 1) / side + middle.y};
    };
    const point centre = place(0), half{boxes(i, 2) / (2 * side), boxes(i, 3) / (2 * side)};
    face found{score, {centre.x - half.x, centre.y - half.y}, {centre.x + half.x, centre.y + half.y}, {}};
    for (std::size_t k = 0; k < found.points.size(); ++k) found.points[k] = place(4 + 2 * k);
    const auto end = into.faces.begin() + static_cast<std::ptrdiff_t>(into.found);
    const auto same = std::find_if(into.faces.begin(), end, [&](const face& f) { return overlap(f, found) > 0.3f; });
    if (same != end) {
      if (same->score < score) *same = found;
    } else if (into.found < most_faces) {
      into.faces[into.found++] = found;
    }
  }
}

detection find_faces(const face_front::Identity_result& scores, const face_front::Identity_1_result& coarse_scores,
                     const face_front::Identity_2_result& boxes, const face_front::Identity_3_result& coarse_boxes) {
  detection result{scores, coarse_scores, boxes, coarse_boxes, {}, 0};
  collect(scores, boxes, 16, 2, result);
  collect(coarse_scores, coarse_boxes, 8, 6, result);
  return result;
}

void draw(photograph& picture, float x, float y, std::array<std::uint8_t, 3> colour, int radius) {
  const auto middle = [](float part) { return static_cast<int>(std::lround(part * static_cast<float>(extent))); };
  for (int row = middle(y) - radius; row <= middle(y) + radius; ++row)
    for (int column = middle(x) - radius; column <= middle(x) + radius; ++column)
      if (row >= 0 && column >= 0 && row < static_cast<int>(extent) && column < static_cast<int>(extent))
        for (std::size_t c = 0; c < 3; ++c)
          picture(static_cast<std::size_t>(row), static_cast<std::size_t>(column), c) = colour[c];
}
void draw(photograph& picture, const face& f) {
  constexpr int steps = 2 * extent;
  for (int i = 0; i <= steps; ++i) {
    const float along = static_cast<float>(i) / steps;
    const float x = f.low.x + along * (f.high.x - f.low.x), y = f.low.y + along * (f.high.y - f.low.y);
    for (const auto& [px, py] : {point{x, f.low.y}, {x, f.high.y}, {f.low.x, y}, {f.high.x, y}})
      draw(picture, px, py, {0, 255, 0}, 1);
  }
  for (const point& p : f.points) draw(picture, p.x, p.y, {255, 0, 0}, 3);
}

int show(const std::string& from, const std::string& to, const std::string& recorded, bool with_report) {
  if (!std::filesystem::exists(from))
    throw example::missing_data(from + " is not there. The photograph is in Debian's package python3-skimage.");
  const auto picture = std::make_unique<photograph>();
  example::read_png(from, *picture);

  const lv::safetensors weights{face_front::weights_file};
  // clang-format off
  const auto find = lv::input<photograph>
      | lv::image::resize<side, side, lv::resize_mode::bilinear, lv::layout::hwc>
      | lv::transform<"scale">([](auto x) { return to_float(x) / 127.5f - 1.0f; })
      | face_front::graph(weights)
      | lv::join<"faces">(find_faces);
  // clang-format on
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(find);
  if (with_report) std::printf("%s\n", lv::report(app).c_str());

  const auto result = std::make_unique<detection>();
  app(*picture, *result);
  for (std::size_t i = 0; i < result->found; ++i) {
    const face& f = result->faces[i];
    std::printf("a face from (%.3f, %.3f) to (%.3f, %.3f), score %.3f\n", static_cast<double>(f.low.x),
                static_cast<double>(f.low.y), static_cast<double>(f.high.x), static_cast<double>(f.high.y),
                static_cast<double>(f.score));
    draw(*picture, f);
  }
  example::write_png(to, *picture);
  std::printf("%zu found in %s, drawn into %s\n", result->found, from.c_str(), to.c_str());
  if (recorded.empty()) return result->found == 0;
  example::recorded_outputs same(recorded);
  same.check("Identity", result->scores);
  same.check("Identity_1", result->coarse_scores);
  same.check("Identity_2", result->boxes);
  same.check("Identity_3", result->coarse_boxes);
  return same.report() && result->found == 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string picture = "/usr/lib/python3/dist-packages/skimage/data/astronaut.png", output = "face.png", recorded;
  bool with_report = false;
  CLI::App arguments("Finds faces on a photograph.");
  arguments.add_option("--picture", picture, "A PNG of 512 x 512 pixels")->capture_default_str();
  arguments.add_option("--output", output, "Where the picture with the faces goes")->capture_default_str();
  arguments.add_option("--recorded", recorded, "Outputs of ONNX Runtime for that picture, to compare with");
  arguments.add_flag("--report", with_report, "Shows the plan");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return show(picture, output, recorded, with_report); });
}
