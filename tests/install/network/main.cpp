// SPDX-License-Identifier: Apache-2.0
// relu(2 x - 1) of four numbers, by a network whose weights are a file and by one that has them within.

#include <cstdio>

#include <levada/graph/parameter_map.hpp>
#include <small.onnx.hpp>
#include <within.onnx.hpp>

namespace lv = levada;

int main() {
  const small::x_type x{0, 1, 2, 3};
  const lv::safetensors file{small::weights_file}, bytes = within::weights();
  const auto by_file = lv::deploy<lv::target<lv::cpu<1>>>(small::graph(file));
  const auto by_bytes = lv::deploy<lv::target<lv::cpu<1>>>(within::graph(bytes));
  const small::y_result a = by_file(x), b = by_bytes(x);
  for (std::size_t i = 0; i < 4; ++i) {
    const float expected = i == 0 ? 0.0f : 2.0f * static_cast<float>(i) - 1.0f;
    if (a[i] != expected || b[i] != expected) return 1;
  }
  std::puts("both give the same");
}
