// SPDX-License-Identifier: Apache-2.0
// error: route_by_a_bool_has_two_branches
// place: "parity"
// place: 3
//
// A bool tells two branches apart, and no third.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto is_even = [](const int& x) { return x % 2 == 0; };
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> |
                             lv::route<"parity">([](const int& x) { return x % 3; }, half, half, lv::identity));
#else
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half, half, lv::identity));
#endif
  return 0;
}
