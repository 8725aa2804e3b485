// SPDX-License-Identifier: Apache-2.0
// error: a kernel captures nothing but uniform<float>, uniform<int32_t> and uniform<uint32_t>, by value
//
// A reference captured: there is nothing that it refers to on a device.

#include <levada/kernel.hpp>

namespace lv = levada;

int main() {
  [[maybe_unused]] const float half = 0.5f;
#ifdef LEVADA_CORRECT
  auto gain = lv::uniform{half * 3};
  auto kernel = [gain](auto x) { return x * gain; };
#else
  auto gain = lv::uniform{half * 3};
  auto kernel = [&gain](auto x) { return x * gain; };
#endif
  constexpr auto& module = lv::spirv_module<lv::program_of<decltype(kernel), float>>;
  return module[0] == 0x07230203 ? 0 : 1;
}
