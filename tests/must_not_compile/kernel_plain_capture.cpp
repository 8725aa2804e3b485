// SPDX-License-Identifier: Apache-2.0
// error: a kernel captures a plain value, which would be baked in: capture uniform{value} instead
//
// A number captured as it is: on a device it would be whatever it was while compiling.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [gain = lv::uniform{half * 3}](auto x) { return x * gain; };
#else
  auto kernel = [gain = half * 3](auto x) { return x * gain; };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
