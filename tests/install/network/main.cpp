// SPDX-License-Identifier: Apache-2.0
// relu(2 x - 1) of four numbers, by a network whose weights are a file, for one row and for two, and by one that has
// them within. With a file the first packs its weights there.

#include <cstdio>

#include <levada/graph/parameter_map.hpp>
#include <levada/interop/packed_weights.hpp>
#include <small.onnx.hpp>
#include <within.onnx.hpp>

namespace lv = levada;

int main(int count, char** arguments) {
  const small::batch1::x_type x{0, 1, 2, 3};
  const small::batch2::x_type rows{0, 1, 2, 3, 3, 2, 1, 0};
  const lv::safetensors file{small::weights_file}, bytes = within::weights();
  const lv::packed_weights packed(file, count > 1 ? arguments[1] : "");
  const auto by_file = lv::deploy<lv::target<lv::cpu<1>>>(small::batch1::graph(packed));
  if (count > 1) packed.save();
  const auto of_two = lv::deploy<lv::target<lv::cpu<1>>>(small::batch2::graph(file));
  const auto by_bytes = lv::deploy<lv::target<lv::cpu<1>>>(within::graph(bytes));
  const small::batch1::y_result a = by_file(x);
  const within::y_result b = by_bytes(x);
  const small::batch2::y_result both = of_two(rows);
  for (std::size_t i = 0; i < 4; ++i) {
    const float expected = i == 0 ? 0.0f : 2.0f * static_cast<float>(i) - 1.0f;
    if (a[i] != expected || b[i] != expected || both(0, i) != expected || both(1, 3 - i) != expected) return 1;
  }
  std::puts("all give the same");
}
