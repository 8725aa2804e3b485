// SPDX-License-Identifier: Apache-2.0
// A model of which ONNX Runtime computes a part, against what foreign.py says of it.

#include <array>
#include <cmath>
#include <cstddef>

#include <foreign.onnx.hpp>

#include <levada/interop/safetensors.hpp>
#include <levada/levada.hpp>

#include <doctest/doctest.h>

namespace lv = levada;

namespace {

using row = lv::tensor<float, 4>;

/// y and z.
std::array<row, 2> expected(const row& x) {
  constexpr float bias[] = {0.5f, -0.5f, 0.25f, 1.0f};
  row t, w = x;
  for (std::size_t i = 0; i < 4; ++i) {
    float v = std::max(x[i], 0.0f);
    for (int k = 0; k < 3; ++k) v += x[i], w[i] *= v;
    const float b = v + bias[i];
    t[i] = std::tanh(b / 2 * (1 + std::erf(b / std::sqrt(2.0f))));
  }
  const float det = t[0] * t[3] - t[1] * t[2];
  row y, z;
  for (std::size_t i = 0; i < 4; ++i) y[i] = t[i] + det, z[i] = 2 * w[i];
  return {y, z};
}

}  // namespace

TEST_CASE("ONNX Runtime computes the nodes that levada lacks") {
  const lv::safetensors weights{foreign::weights_file};
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<row> | foreign::graph(weights));
  for (const row x : {row{1, -2, 0.5f, 3}, row{-1, -1, 2, 0}, row{0.1f, 0.2f, -0.3f, 0.4f}}) {
    const auto made = app(x);
    const auto [y, z] = expected(x);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(made.get<"y">()[i] == doctest::Approx(y[i]).epsilon(1e-5));
      CHECK(made.get<"z">()[i] == doctest::Approx(z[i]).epsilon(1e-5));
    }
  }
}
