// SPDX-License-Identifier: Apache-2.0
// error: feedback_body_has_no_output_of_that_name
// place: "sum"
//
// Of several outputs one comes back: that of the state's name.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto add = lv::join<"add">([](const int& x, const int& s) { return x + s; });
  const auto twice = lv::stage<"twice">([](const int& s) { return 2 * s; });
#ifdef LEVADA_CORRECT
  const auto body = lv::graph(lv::port<"x", int>, lv::port<"sum", int>, lv::node<"a", "x", "sum">(add),
                              lv::node<"b", "a">(twice), lv::output<"y", "b">, lv::output<"sum", "a">);
#else
  const auto body = lv::graph(lv::port<"x", int>, lv::port<"sum", int>, lv::node<"a", "x", "sum">(add),
                              lv::node<"b", "a">(twice), lv::output<"y", "b">, lv::output<"next", "a">);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum">(body, 0));
  return app(1);
}
