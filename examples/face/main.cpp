// SPDX-License-Identifier: Apache-2.0
// Faces on a photograph, by MediaPipe's BlazeFace, which CMake makes of its ONNX file: bytes -> 128 x 128 -> network ->
// faces with their eyes, nose, mouth and ears. The faces are drawn into a PNG.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "../common/png.hpp"
#include "../common/recorded.hpp"
#include "../common/run.hpp"
#include "faces.hpp"

#include <CLI/CLI.hpp>
#include <levada/interop/report.hpp>

namespace {

namespace lv = levada;

using photograph = example::astronaut;
constexpr std::size_t extent = photograph::extents[0];

/// What the network gives, and the faces in it.
struct detection {
  example::heads given;
  example::faces found;
};
detection detect(const face_front::Identity_result& scores, const face_front::Identity_1_result& coarse_scores,
                 const face_front::Identity_2_result& boxes, const face_front::Identity_3_result& coarse_boxes) {
  const example::heads given = example::gather(scores, coarse_scores, boxes, coarse_boxes);
  return {given, example::find_faces(given)};
}

void draw(photograph& picture, float x, float y, std::array<std::uint8_t, 3> colour, int radius) {
  const auto middle = [](float part) { return static_cast<int>(std::lround(part * static_cast<float>(extent))); };
  for (int row = middle(y) - radius; row <= middle(y) + radius; ++row)
    for (int column = middle(x) - radius; column <= middle(x) + radius; ++column)
      if (row >= 0 && column >= 0 && row < static_cast<int>(extent) && column < static_cast<int>(extent))
        for (std::size_t c = 0; c < 3; ++c)
          picture(static_cast<std::size_t>(row), static_cast<std::size_t>(column), c) = colour[c];
}
void draw(photograph& picture, const example::face& f) {
  constexpr int steps = 2 * extent;
  for (int i = 0; i <= steps; ++i) {
    const float along = static_cast<float>(i) / steps;
    const float x = f.low.x + along * (f.high.x - f.low.x), y = f.low.y + along * (f.high.y - f.low.y);
    for (const auto& [px, py] : {example::point{x, f.low.y}, {x, f.high.y}, {f.low.x, y}, {f.high.x, y}})
      draw(picture, px, py, {0, 255, 0}, 1);
  }
  for (const example::point& p : f.points) draw(picture, p.x, p.y, {255, 0, 0}, 3);
}

int show(const std::string& from, const std::string& to, const std::string& recorded, bool with_report) {
  const auto picture = example::read_photograph<photograph>(from);
  const lv::safetensors weights{face_front::weights_file};
  // clang-format off
  const auto find = lv::input<photograph>
      | example::scaled_down()
      | face_front::graph(weights)
      | lv::join<"faces">(detect);
  // clang-format on
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<2>>(find);
  if (with_report) std::printf("%s\n", lv::report(app).c_str());

  const auto result = std::make_unique<detection>();
  app(*picture, *result);
  for (const example::face& f : result->found) {
    std::printf("a face from (%.3f, %.3f) to (%.3f, %.3f), score %.3f\n", static_cast<double>(f.low.x),
                static_cast<double>(f.low.y), static_cast<double>(f.high.x), static_cast<double>(f.high.y),
                static_cast<double>(f.score));
    draw(*picture, f);
  }
  example::write_png(to, *picture);
  std::printf("%zu found in %s, drawn into %s\n", result->found.size(), from.c_str(), to.c_str());
  if (recorded.empty()) return result->found.empty();
  example::recorded_outputs same(recorded);
  same.check("Identity", result->given.scores);
  same.check("Identity_1", result->given.coarse_scores);
  same.check("Identity_2", result->given.boxes);
  same.check("Identity_3", result->given.coarse_boxes);
  return same.report() && result->found.size() == 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string picture = example::astronaut_file, output = "face.png", recorded;
  bool with_report = false;
  CLI::App arguments("Finds faces on a photograph.");
  arguments.add_option("--picture", picture, "A PNG of 512 x 512 pixels")->capture_default_str();
  arguments.add_option("--output", output, "Where the picture with the faces goes")->capture_default_str();
  arguments.add_option("--recorded", recorded, "Outputs of ONNX Runtime for that picture, to compare with");
  arguments.add_flag("--report", with_report, "Shows the plan");
  CLI11_PARSE(arguments, argc, argv);
  return example::run([&] { return show(picture, output, recorded, with_report); });
}
