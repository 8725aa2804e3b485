// SPDX-License-Identifier: Apache-2.0
// error: parameters_inside_another_stage_cannot_be_replaced
// place: "for_each"
//
// A group is a part of the pipeline itself.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

constexpr auto gain = lv::stage<"gain">(lv::adjustable<"by">([](const int& x, const int& by) { return x * by; }, 3));

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | lv::params<"gain">(gain));
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::params<"gain">(lv::for_each<8>(gain)) | lv::collect);
#endif
  return 0;
}
