// SPDX-License-Identifier: Apache-2.0
// error: graph_has_no_node_or_port_of_that_name
// place: "y"
// place: "c"
//
// An output of no node.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto model =
      lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one), lv::node<"b", "a", "x">(sum), lv::output<"y", "b">);
#else
  auto model =
      lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one), lv::node<"b", "a", "x">(sum), lv::output<"y", "c">);
#endif
  return lv::deploy<lv::target<lv::cpu<2>>>(model)(1);
}
