// SPDX-License-Identifier: Apache-2.0
// error: graph_of_several_ports_takes_other_items
// place: gives<int, double>
// place: wants<
//
// A graph of two ports behind a fork of other items.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const auto& b) { return static_cast<int>(a + b); });
#ifdef LEVADA_CORRECT
  const auto other = lv::stage<"other">([](const int& x) { return x + 1; });
#else
  const auto other = lv::stage<"other">([](const int& x) { return x + 1.0; });
#endif
  auto model =
      lv::input<int> | lv::fork(lv::identity, other) |
      lv::graph(lv::port<"a", int>, lv::port<"b", int>, lv::node<"sum", "a", "b">(sum), lv::output<"y", "sum">);
  return lv::deploy<lv::target<lv::cpu<2>>>(model)(1);
}
