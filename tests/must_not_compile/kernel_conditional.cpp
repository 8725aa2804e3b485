// SPDX-License-Identifier: Apache-2.0
// error: the value is known on the device only: write select(condition, a, b), no `if` or `?:`
//
// A `?:` on a traced value.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [](auto x) { return select(x < 0.0f, -x, x); };
#else
  auto kernel = [](auto x) { return x < 0.0f ? -x : x; };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
