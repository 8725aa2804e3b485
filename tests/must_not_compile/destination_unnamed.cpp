// SPDX-License-Identifier: Apache-2.0
// error: stage_that_writes_into_its_second_argument_has_to_name_its_output
// place: "half"
//
// stage<"half", float>(f) says that the second parameter is where the output goes.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto half = [](const int& x, float& out) { out = static_cast<float>(x) / 2; };
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"half", float>(half));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"half">(half));
#endif
  return app(1) > 0;
}
