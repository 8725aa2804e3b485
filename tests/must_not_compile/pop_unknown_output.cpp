// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_output_of_that_name
// place: "sums"
// place: gives<
// place: "sum"
//
// A session of two outputs is popped by a name that neither has.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto twice = lv::stage<"twice">(+[](const int& a) { return 2 * a; });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::graph(lv::port<"x", int>, lv::node<"double", "x">(twice),
                                                          lv::node<"total", "x", "double">(sum),
                                                          lv::output<"sum", "total">, lv::output<"half", "double">));
  auto session = app.open();
  session.push(1);
#ifdef LEVADA_CORRECT
  const auto r = session.pop<"sum">();
#else
  const auto r = session.pop<"sums">();
#endif
  return **r;
}
