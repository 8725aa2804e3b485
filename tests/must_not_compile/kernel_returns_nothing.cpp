// SPDX-License-Identifier: Apache-2.0
// error: a kernel returns a value computed from its inputs, a number, or a std::tuple of these
//
// A lambda that gives nothing back.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [](auto x) { return x; };
#else
  auto kernel = [](auto x) { (void)(x + 1.0f); };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
