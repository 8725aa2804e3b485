// SPDX-License-Identifier: Apache-2.0
// error: collect_has_no_for_each_before_it
// place: "twice"
// place: gives<int>
//
// Behind for_each stands collect, and nowhere else.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<8>(twice) | lv::collect);
#else
  auto app = lv::deploy<box>(lv::input<int> | twice | lv::collect);
#endif
  return 0;
}
