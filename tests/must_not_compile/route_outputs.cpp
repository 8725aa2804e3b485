// SPDX-License-Identifier: Apache-2.0
// error: branches_of_a_route_give_different_items
// place: "parity"
// place: int
// place: double
//
// Whichever branch an item takes, it comes out as the same.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto is_even = [](const int& x) { return x % 2 == 0; };
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half, lv::identity));
#else
  auto app = lv::deploy<box>(
      lv::input<int> | lv::route<"parity">(is_even, half, lv::stage<"double">([](const int& x) { return 2.0 * x; })));
#endif
  return 0;
}
