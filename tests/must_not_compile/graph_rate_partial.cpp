// SPDX-License-Identifier: Apache-2.0
// error: graph_that_changes_its_rate_takes_whole_nodes
// place: "half"
//
// One output of a node that has several, where the rate changes.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& a) { return a + 1; });
  const auto two = lv::graph(lv::port<"a", int>, lv::node<"low", "a">(one), lv::node<"high", "a">(one),
                             lv::output<"low", "low">, lv::output<"high", "high">);
#ifdef LEVADA_CORRECT
  auto p = lv::graph(lv::port<"x", int>, lv::node<"both", "x">(one), lv::node<"half", "both">(lv::downsample<2>),
                     lv::output<"y", "half">);
#else
  auto p = lv::graph(lv::port<"x", int>, lv::node<"both", "x">(two), lv::node<"half", "both.low">(lv::downsample<2>),
                     lv::output<"y", "half">);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return static_cast<int>(session.counts().pushed);
}
