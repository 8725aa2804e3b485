// SPDX-License-Identifier: Apache-2.0
// error: feedback_cannot_be_split_behind_a_stage_inside_it
// place: "add"
//
// An item has to come to the end of a feedback before the next begins: there is nothing to gain from two segments.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto add = lv::join<"add">([](const int& x, const int& s) { return x + s; });
  const auto twice = lv::stage<"twice">([](const int& s) { return 2 * s; });
#ifdef LEVADA_CORRECT
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum">(add | twice, 0) | lv::split_here | twice);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum">(add | lv::split_here | twice, 0));
#endif
  return app(1);
}
