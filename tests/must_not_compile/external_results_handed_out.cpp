// SPDX-License-Identifier: Apache-2.0
// error: results_of_a_session_with_external_results_are_popped_not_handed_out
// place: <int, int>
//
// Results in the memory of who pushes are popped, not handed to a function.

#include <levada/levada.hpp>
#include <levada/run/callback_session.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  lv::callback_session session(app.open(), [](const lv::result<int&>&) {});
#else
  lv::callback_session session(app.open<lv::external_results>(), [](const lv::result<int&>&) {});
#endif
  return session.is_over();
}
