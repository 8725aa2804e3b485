// SPDX-License-Identifier: Apache-2.0
// error: for_each_is_followed_by_no_collect
// place: "crops"
//
// Nor does it leave the pipeline uncollected.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<"crops", 8>(twice) | lv::collect);
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<"crops", 8>(twice));
#endif
  return 0;
}
