// SPDX-License-Identifier: Apache-2.0
// error: bits of a float: bit_cast_to_uint(x) gives them
//
// Bit operations on a float.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [](auto x) { return bit_cast_to_float(bit_cast_to_uint(x) & 0x7fffffffu); };
#else
  auto kernel = [](auto x) { return x & x; };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
