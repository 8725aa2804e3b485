// SPDX-License-Identifier: Apache-2.0
// error: route_is_chosen_by_a_bool_or_an_index_of_the_item
// place: "parity"
// place: int
//
// What chooses is asked for a bool or an index.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto is_even = [](const int& x) { return x % 2 == 0; };
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half, lv::identity));
#else
  auto app =
      lv::deploy<box>(lv::input<int> | lv::route<"parity">([](const int& x) { return x * 0.5; }, half, lv::identity));
#endif
  return 0;
}
