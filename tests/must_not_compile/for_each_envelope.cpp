// SPDX-License-Identifier: Apache-2.0
// error: stages_inside_another_see_no_envelope
// place: "for_each"
// place: "number"
//
// An envelope is that of an item, not of a part.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

constexpr auto number =
    lv::stage<"number">([](const int& x, const lv::item_envelope& e) { return x + static_cast<int>(e.sequence); });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | number);
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<8>(number) | lv::collect);
#endif
  return 0;
}
