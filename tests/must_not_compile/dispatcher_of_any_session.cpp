// SPDX-License-Identifier: Apache-2.0
// error: results_are_handed_out_by_a_session_of_an_app_and_popped_from_any_other
// place: any_session<int, int>
//
// The results of an any_session are popped, by no dispatcher either.

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/detail/session/dispatcher.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  lv::dispatcher results;
#ifdef LEVADA_CORRECT
  lv::callback_session session(
      app.open(), [](const lv::result<int&>&) {}, results);
#else
  const lv::any_pipeline<int(int)> any = app;
  lv::callback_session session(
      any.open(), [](const lv::result<int&>&) {}, results);
#endif
  return session.push(1);
}
