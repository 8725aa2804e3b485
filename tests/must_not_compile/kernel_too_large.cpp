// SPDX-License-Identifier: Apache-2.0
// error: a kernel has at most 2048 instructions and 16 outputs: split it, or loop over less
//
// A loop over numbers is unrolled: this one makes more instructions than a kernel may have.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto kernel = [](auto x) {
    auto sum = x;
    for (int i = 0; i < 50; ++i) sum += x * sum;
    return sum;
  };
#else
  auto kernel = [](auto x) {
    auto sum = x;
    for (int i = 0; i < 1500; ++i) sum += x * sum;
    return sum;
  };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
