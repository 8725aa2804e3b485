// SPDX-License-Identifier: Apache-2.0
// error: a kernel cannot store a bool: write select(condition, 1, 0)
//
// A condition as the result.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [](auto x) { return select(x < 0.0f, 1, 0); };
#else
  auto kernel = [](auto x) { return x < 0.0f; };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
