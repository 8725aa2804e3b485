// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
// place: int
// place: char
//
// The app is called with an item of another type.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
#ifdef LEVADA_CORRECT
  const int result = app(4);
#else
  const int result = app("four");
#endif
  return result + app(3);
}
