// SPDX-License-Identifier: Apache-2.0
#pragma once
// detector/network.hpp: a detector of coins as networks are built: a backbone that brings the picture to a quarter of
// its size, and on it two heads, the scores and the boxes of three sizes of coin at each place. What training would
// find is set by hand: a coin is a disc that is brighter than the ring around it.

#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include <levada/graph/parameter_map.hpp>
#include <levada/ops.hpp>

namespace example {

namespace lv = levada;

inline constexpr std::size_t side = 256, step = 4, cells = side / step;  // of the network's input, of what it looks at
inline constexpr std::array radii{3.2f, 4.0f, 4.8f};                     // of coins, in cells
inline constexpr std::size_t places = radii.size() * cells * cells;

using network_input = lv::tensor<float, 1, side, side>;
using box_head = lv::tensor<float, 4 * radii.size(), cells, cells>;
using boxes = lv::tensor<float, places, 4>;  // x and y of the centre, width, height

/// Brightness of a disc over that of the ring around it, for each radius.
inline lv::tensor<float, radii.size(), 1, 15, 15> disc_filters() {
  lv::tensor<float, radii.size(), 1, 15, 15> filters{};
  for (std::size_t r = 0; r < radii.size(); ++r) {
    const auto in_disc = [&](float d) { return d <= radii[r]; };
    const auto in_ring = [&](float d) { return d > radii[r] + 0.5f && d <= radii[r] + 2; };
    const auto for_each_cell = [](auto visit) {
      for (std::size_t y = 0; y < 15; ++y)
        for (std::size_t x = 0; x < 15; ++x)
          visit(y, x, std::hypot(static_cast<float>(y) - 7, static_cast<float>(x) - 7));
    };
    float disc = 0, ring = 0;
    for_each_cell([&](std::size_t, std::size_t, float d) { disc += in_disc(d), ring += in_ring(d); });
    for_each_cell([&](std::size_t y, std::size_t x, float d) {
      filters(r, 0, y, x) = in_disc(d) ? 1 / disc : in_ring(d) ? -1 / ring : 0;
    });
  }
  return filters;
}

inline lv::parameter_map weights() {
  lv::parameter_map w;
  lv::tensor<float, 1, 1, 3, 3> smooth;  // binomial
  for (std::size_t i = 0; i < 9; ++i) smooth.data()[i] = (i % 2 == 1 ? 2.0f : i == 4 ? 4.0f : 1.0f) / 16;
  const lv::tensor<float, 1> nothing{};
  for (const char* layer : {"half", "quarter"}) {
    w.set(std::string(layer) + ".weight", smooth);
    w.set(std::string(layer) + ".bias", nothing);
  }
  w.set("score.weight", disc_filters());
  w.set("score.bias", lv::tensor<float, radii.size()>{});
  lv::tensor<float, 4 * radii.size()> size{};  // of each box; its centre is that of its cell
  for (std::size_t r = 0; r < radii.size(); ++r) size(4 * r + 2) = size(4 * r + 3) = 2 * radii[r] + 1;
  w.set("box.weight", lv::tensor<float, 4 * radii.size(), 1, 1, 1>{});
  w.set("box.bias", size);

  // Of the network that looks at each coin: how its brightness changes to the right and downwards, and back.
  lv::tensor<float, 4, 1, 3, 3> edges{};
  for (std::size_t i = 0; i < 3; ++i) {
    const float k = (i == 1 ? 2.0f : 1.0f) / 8;
    edges(0, 0, i, 0) = edges(1, 0, i, 2) = edges(2, 0, 0, i) = edges(3, 0, 2, i) = k;
    edges(0, 0, i, 2) = edges(1, 0, i, 0) = edges(2, 0, 2, i) = edges(3, 0, 0, i) = -k;
  }
  w.set("edges.weight", edges);
  w.set("edges.bias", lv::tensor<float, 4>{});
  lv::tensor<float, 1, 4> sum;
  for (float& s : sum) s = 1;
  w.set("relief.weight", sum);
  w.set("relief.bias", nothing);
  return w;
}

}  // namespace example
