// SPDX-License-Identifier: Apache-2.0
// error: the operands have different types: convert one with to_float, to_int or to_uint
//
// A float and an integer that is no literal.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [](auto x) { return x + to_float(to_int(x)); };
#else
  auto kernel = [](auto x) { return x + to_int(x); };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
