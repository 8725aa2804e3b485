// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "crops"
// place: "shout"
//
// A mistake inside names the stages inside; ahead of the first of them is the stage around.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(
      lv::input<numbers> | lv::for_each<"crops", 8>(lv::stage<"shout">([](const int& x) { return x; })) | lv::collect);
#else
  auto app = lv::deploy<box>(lv::input<numbers> |
                             lv::for_each<"crops", 8>(lv::stage<"shout">([](const char* const& s) { return s[0]; })) |
                             lv::collect);
#endif
  return 0;
}
