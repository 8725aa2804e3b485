// SPDX-License-Identifier: Apache-2.0
// What one stage finds out travels beside the item to a later stage; those between know nothing of it.

#include <cstdio>

#include <levada/levada.hpp>

namespace lv = levada;

struct scale {
  float factor = 1;
};

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<float> | lv::stage<"to one">([](const float& x, scale& by) {
        by.factor = x;
        return 1.0f;
      }) |
      lv::stage<"shift">([](const float& x) { return x + 1; }) |
      lv::stage<"back">([](const float& x, const scale& by) { return x * by.factor; }));
  std::printf("%g\n", static_cast<double>(app(8.0f)));
  return app(8.0f) == 16.0f ? 0 : 1;
}
