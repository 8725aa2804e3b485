// SPDX-License-Identifier: Apache-2.0
// error: rate_changes_inside_a_branch
// place: "batch"
//
// The parts of an item are not those of the next.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<8>(twice) | lv::collect | lv::batch<2> | lv::unbatch);
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<8>(twice | lv::batch<2> | lv::unbatch) | lv::collect);
#endif
  return 0;
}
