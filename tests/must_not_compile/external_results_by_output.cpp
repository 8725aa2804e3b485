// SPDX-License-Identifier: Apache-2.0
// error: session_with_external_results_is_popped_whole_results_not_outputs
//
// One of several results that were written at once.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(lv::graph(
      lv::port<"a", int>, lv::node<"up", "a">([](const int& a) { return a + 1; }),
      lv::node<"down", "a">([](const int& a) { return a - 1; }), lv::output<"up", "up">, lv::output<"down", "down">));
  auto session = app.open<lv::external_results>();
  decltype(app)::output into;
  session.push(1, into);
#ifdef LEVADA_CORRECT
  session.pop();
#else
  session.pop<"up">();
#endif
}
