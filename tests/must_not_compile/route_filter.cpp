// SPDX-License-Identifier: Apache-2.0
// error: filter_inside_a_route_belongs_behind_it
// place: "parity"
// place: "odd"
//
// A route gives something for each item.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto is_even = [](const int& x) { return x % 2 == 0; };
constexpr auto half = lv::stage<"half">([](const int& x) { return x / 2; });
constexpr auto odd = lv::stage<"odd">([](const int& x) -> std::optional<int> {
  if (x % 2 == 0) return std::nullopt;
  return x;
});

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half, lv::identity) | odd);
#else
  auto app = lv::deploy<box>(lv::input<int> | lv::route<"parity">(is_even, half, odd));
#endif
  return 0;
}
