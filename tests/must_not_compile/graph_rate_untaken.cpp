// SPDX-License-Identifier: Apache-2.0
// error: nothing_in_the_graph_takes_what_this_gives
// place: "half"
//
// In a graph that changes its rate, too.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& a) { return a + 1; });
#ifdef LEVADA_CORRECT
  auto p = lv::graph(lv::port<"x", int>, lv::node<"half", "x">(lv::downsample<2>), lv::node<"b", "half">(one),
                     lv::output<"y", "b">);
#else
  auto p = lv::graph(lv::port<"x", int>, lv::node<"half", "x">(lv::downsample<2>), lv::node<"b", "x">(one),
                     lv::output<"y", "b">);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
