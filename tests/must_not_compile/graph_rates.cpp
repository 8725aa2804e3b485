// SPDX-License-Identifier: Apache-2.0
// error: graph_takes_together_what_comes_at_different_rates
// place: "b"
// place: given_of<1, 1>
// place: 1
// place: given_of<1, 2>
//
// A node takes of two others the first with the first: here one of them would pile up.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto p = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(lv::downsample<2> | lv::repeat<2>),
                     lv::node<"b", "x", "a">(sum), lv::output<"y", "b">);
#else
  auto p = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(lv::downsample<2>), lv::node<"b", "x", "a">(sum),
                     lv::output<"y", "b">);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
