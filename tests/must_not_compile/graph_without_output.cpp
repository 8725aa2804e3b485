// SPDX-License-Identifier: Apache-2.0
// error: graph_is_ports_then_nodes_then_outputs
// place: "a"
//
// A graph without an output.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
#ifdef LEVADA_CORRECT
  auto model = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one), lv::output<"y", "a">);
#else
  auto model = lv::graph(lv::port<"x", int>, lv::node<"a", "x">(one));
#endif
  return lv::deploy<lv::target<lv::cpu<2>>>(model)(1);
}
