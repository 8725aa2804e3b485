// SPDX-License-Identifier: Apache-2.0
// error: feedback_body_has_no_port_of_that_name
// place: "state"
//
// The port that the state goes to bears its name.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"add">([](const int& x, const int& s) { return x + s; });
  const auto body =
      lv::graph(lv::port<"x", int>, lv::port<"sum", int>, lv::node<"a", "x", "sum">(sum), lv::output<"y", "a">);
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"sum">(body, 0));
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::feedback<"state">(body, 0));
#endif
  return app(1);
}
