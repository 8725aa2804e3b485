// SPDX-License-Identifier: Apache-2.0
// error: group_of_parameters_belongs_inside_the_stage_that_holds_them
// place: "for_each"
//
// A group is written around stages, not around one that holds them.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

constexpr auto gain = lv::stage<"gain">(lv::adjustable<"by">([](const int& x, const int& by) { return x * by; }, 3));

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<8>(lv::params<"gain">(gain)) | lv::collect);
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::params<"gain">(lv::for_each<8>(gain)) | lv::collect);
#endif
  return 0;
}
