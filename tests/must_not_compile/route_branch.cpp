// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "parity"
// place: "length"
//
// A mistake in a branch names the stage there; before the first of them is the route.

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
      lv::input<int> |
      lv::route<"parity">(is_even, half, lv::stage<"length">([](const char* const& s) { return s[0] + 0; })));
#endif
  return 0;
}
