// SPDX-License-Identifier: Apache-2.0
// error: stage_changes_or_consumes_an_item_that_another_branch_takes_too
// place: "change"
//
// What goes in beside a part goes in beside the next, too.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
constexpr auto size = lv::stage<"size">([](const numbers& n) { return static_cast<int>(n.size()); });
#ifdef LEVADA_CORRECT
constexpr auto change = lv::stage<"change">([](const int& x) { return x + 1; });
#else
constexpr auto change = lv::stage<"change">([](int& x) { ++x; });
#endif

int main() {
  auto app =
      lv::deploy<box>(lv::input<numbers> | lv::fork(size, lv::identity) |
                      lv::for_each<8>(lv::graph(lv::port<"a", int>, lv::port<"b", int>, lv::node<"more", "a">(change),
                                                lv::node<"sum", "more", "b">(sum), lv::output<"y", "sum">)) |
                      lv::collect);
  return 0;
}
