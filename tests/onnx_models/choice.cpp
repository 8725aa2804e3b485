// SPDX-License-Identifier: Apache-2.0
// A model that chooses by its item what it computes, against what choice.py says of it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <vector>

#include <choice.onnx.hpp>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

#include <doctest/doctest.h>

namespace lv = levada;

namespace {

using row = lv::tensor<float, 4>;

/// y, and z with the other sign.
std::array<row, 2> expected(const row& x) {
  row h, y{}, z;
  for (std::size_t i = 0; i < 4; ++i) h[i] = std::max(x[i], 0.0f);
  if (std::accumulate(x.begin(), x.end(), 0.0f) > 0) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 4; ++k) y[i] += x[k] * static_cast<float>(4 * k + i);
      y[i] += h[i];
      z[i] = 2 * h[i];
    }
  } else if (*std::max_element(x.begin(), x.end()) > 1) {
    y = h;
    for (std::size_t i = 0; i < 4; ++i) z[i] = x[i] * x[i];
  } else {
    y.fill(7);
    z = x;
  }
  for (float& each : z) each = -each;
  return {y, z};
}

TEST_CASE("a branch of a model for each item, another one in it") {
  const std::filesystem::path file = choice::weights_file;
  const lv::safetensors weights{file};
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<row> | choice::graph(weights));
  const std::vector<row> items{{{1, -2, 3, 0.5f}}, {{-8, 2, 1.5f, 0}}, {{-1, -2, 0.5f, 1}}, {{0, 0, 0, 0}},
                               {{4, 4, 4, -4}},    {{-3, 1, 1, 1}},    {{-3, 1, 1.25f, 0}}, {{0.5f, 0, 0, 0}}};
  std::size_t i = 0;
  for (auto&& r : app.stream(items)) {
    const auto [y, z] = expected(items[i++]);
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(r->get<"y">()[k] == y[k]);
      CHECK(r->get<"minus_z">()[k] == z[k]);
    }
  }
  CHECK(i == items.size());
}

}  // namespace
