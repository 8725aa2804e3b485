// SPDX-License-Identifier: Apache-2.0
#pragma once
// face/faces.hpp: what stands before and behind MediaPipe's BlazeFace, which CMake makes of its ONNX file: pixels as
// the network takes them, and the faces in what it gives.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <face_front.onnx.hpp>

namespace example {

constexpr std::size_t network_side = 128, most_faces = 16;
using astronaut = levada::tensor<std::uint8_t, 512, 512, 3>;
constexpr const char* astronaut_file = "/usr/lib/python3/dist-packages/skimage/data/astronaut.png";

struct point {
  float x = 0, y = 0;  ///< in parts of the picture
};
struct face {
  float score = 0;
  point low, high;              ///< the corners of its box
  std::array<point, 6> points;  ///< eyes, nose, mouth, ears
};
using faces = levada::bounded<face, most_faces>;

/// What the network gives: of a fine grid and of a coarse one.
struct heads {
  face_front::Identity_result scores;
  face_front::Identity_1_result coarse_scores;
  face_front::Identity_2_result boxes;
  face_front::Identity_3_result coarse_boxes;
};

/// A picture as the network takes it.
inline auto scaled_down() {
  return levada::image::resize<network_side, network_side, levada::resize_mode::bilinear, levada::layout::hwc> |
         levada::transform<"scale">([](auto x) { return to_float(x) / 127.5f - 1.0f; });
}

inline heads gather(const face_front::Identity_result& scores, const face_front::Identity_1_result& coarse_scores,
                    const face_front::Identity_2_result& boxes, const face_front::Identity_3_result& coarse_boxes) {
  return {scores, coarse_scores, boxes, coarse_boxes};
}

/// In parts of both together.
inline float overlap(const face& a, const face& b) {
  const auto area = [](point low, point high) {
    return std::max(0.0f, high.x - low.x) * std::max(0.0f, high.y - low.y);
  };
  const float both = area({std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)},
                          {std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)});
  return both / (area(a.low, a.high) + area(b.low, b.high) - both);
}

/// The best face of each place. Boxes stand about the middles of a grid's cells, some for each cell.
template <class Scores, class Boxes>
void collect(const Scores& scores, const Boxes& boxes, std::size_t grid, std::size_t each, faces& into) {
  for (std::size_t i = 0; i < Scores::extents[0]; ++i) {
    const float score = 1 / (1 + std::exp(-std::clamp(scores(i, 0), -100.0f, 100.0f)));
    if (score < 0.5f) continue;
    const std::size_t cell = i / each;
    const point middle{(static_cast<float>(cell % grid) + 0.5f) / static_cast<float>(grid),
                       (static_cast<float>(cell / grid) + 0.5f) / static_cast<float>(grid)};
    const auto place = [&](std::size_t at) {
      return point{boxes(i, at) / network_side + middle.x, boxes(i, at + 1) / network_side + middle.y};
    };
    const point centre = place(0), half{boxes(i, 2) / (2 * network_side), boxes(i, 3) / (2 * network_side)};
    face found{score, {centre.x - half.x, centre.y - half.y}, {centre.x + half.x, centre.y + half.y}, {}};
    for (std::size_t k = 0; k < found.points.size(); ++k) found.points[k] = place(4 + 2 * k);
    const auto same = std::find_if(into.begin(), into.end(), [&](const face& f) { return overlap(f, found) > 0.3f; });
    if (same == into.end())
      into.try_push_back(found);
    else if (same->score < score)
      *same = found;
  }
}
inline faces find_faces(const heads& given) {
  faces found;
  collect(given.scores, given.boxes, 16, 2, found);
  collect(given.coarse_scores, given.coarse_boxes, 8, 6, found);
  return found;
}

}  // namespace example
