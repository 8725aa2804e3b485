// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "input"
// place: int
// place: "crops"
// place: "bounded<T, N>, or one in a fork"
//
// for_each takes an item that has parts.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<"crops", 8>(twice) | lv::collect);
#else
  auto app = lv::deploy<box>(lv::input<int> | lv::for_each<"crops", 8>(twice) | lv::collect);
#endif
  return 0;
}
