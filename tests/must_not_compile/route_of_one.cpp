// SPDX-License-Identifier: Apache-2.0
// error: route_takes_a_choice_and_two_to_eight_branches
// place: "parity"
// place: 1
//
// With one branch there is nothing to choose.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto is_even = [](const int& x) { return x % 2 == 0; };
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half, lv::identity));
#else
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half));
#endif
  return 0;
}
