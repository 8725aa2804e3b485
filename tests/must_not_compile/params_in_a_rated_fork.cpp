// SPDX-License-Identifier: Apache-2.0
// error: parameters_in_branches_that_change_their_rate_cannot_be_replaced
// place: "fork"
//
// Branches that change their rate are one thing for what follows them, with no version of its parameters.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
constexpr auto gain = lv::stage<"gain">(lv::adjustable<"by">([](const int& x, const int& by) { return x * by; }, 3));
constexpr auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });

int main() {
#ifdef LEVADA_CORRECT
  auto app =
      lv::deploy<box>(lv::input<int> | lv::fork(lv::downsample<2>, lv::downsample<2>) | sum | lv::params<"gain">(gain));
#else
  auto app =
      lv::deploy<box>(lv::input<int> | lv::fork(lv::downsample<2> | lv::params<"gain">(gain), lv::downsample<2>) | sum);
#endif
  return 0;
}
