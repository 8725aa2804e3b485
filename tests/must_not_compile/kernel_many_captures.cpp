// SPDX-License-Identifier: Apache-2.0
// error: the captures of a kernel take at most 124 bytes: they are push constants
//
// More captures than every device has room for.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [a = lv::uniform{half}](auto x) { return x * a; };
#else
  struct weights {
    lv::uniform<float> w[32];
  };
  auto kernel = [a = weights{}](auto x) { return x * a.w[31]; };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
