// SPDX-License-Identifier: Apache-2.0
// error: stage_that_holds_pipelines_gives_several_items_to_a_join_not_to_ports
// place: "for_each"
//
// A part and what lies beside it come to a join.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

constexpr auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
constexpr auto pair =
    lv::input<numbers> |
    lv::fork(lv::stage<"size">([](const numbers& n) { return static_cast<int>(n.size()); }), lv::identity);

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(pair | lv::for_each<8>(sum) | lv::collect);
#else
  auto app = lv::deploy<box>(pair |
                             lv::for_each<8>(lv::graph(lv::port<"a", int>, lv::port<"b", int>,
                                                       lv::node<"sum", "a", "b">(sum), lv::output<"y", "sum">)) |
                             lv::collect);
#endif
  return 0;
}
