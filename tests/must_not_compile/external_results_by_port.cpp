// SPDX-License-Identifier: Apache-2.0
// error: session_with_external_results_is_pushed_whole_items_not_ports
//
// Parts of an item, without a place for its result.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<1>>>(
      lv::graph(lv::port<"a", int>, lv::port<"b", int>,
                lv::node<"sum", "a", "b">([](const int& a, const int& b) { return a + b; }), lv::output<"sum", "sum">));
#ifdef LEVADA_CORRECT
  auto session = app.open();
  session.push<"b">(2);
#else
  auto session = app.open<lv::external_results>();
#endif
  session.push<"a">(1);
  return session.pop().has_value() ? 0 : 1;
}
