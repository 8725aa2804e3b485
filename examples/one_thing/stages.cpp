// SPDX-License-Identifier: Apache-2.0
// A first program: two lambdas as stages, and an element-wise one; a call, and a stream. It needs no file.

#include <cstddef>
#include <cstdio>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

using row = lv::tensor<float, 8>;

int main() {
  const lv::pipeline sum_of_squares =
      lv::input<int> | lv::stage<"count">([](const int& first) {  // takes the whole item
        row r;
        for (std::size_t i = 0; i < row::elements; ++i) r[i] = static_cast<float>(first) + static_cast<float>(i);
        return r;
      }) |
      lv::transform<"square">([](auto x) { return x * x; })  // takes each element, or a vector of them
      | lv::stage<"sum">([](const row& r) {
          float sum = 0;
          for (const float x : r) sum += x;
          return sum;
        });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(sum_of_squares);

  std::printf("one item: %g\n", app(0));  // 0 + 1 + 4 + ... + 49
  float last = 0;
  for (auto&& result : app.stream(std::vector{1, 2, 3})) std::printf("of a stream: %g\n", last = result.value());
  return last == 380 ? 0 : 1;  // 9 + 16 + ... + 100
}
