// SPDX-License-Identifier: Apache-2.0
// error: results_are_handed_to_a_function_that_takes_them
// place: lambda
//
// A result may be an exception: the function takes it, and not the value.

#include <levada/levada.hpp>
#include <levada/run/callback_session.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  lv::callback_session session(app.open(), [](const lv::result<int&>&) {});
#else
  lv::callback_session session(app.open(), [](int) {});
#endif
  return session.push(1);
}
