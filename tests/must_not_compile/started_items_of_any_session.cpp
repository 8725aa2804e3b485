// SPDX-License-Identifier: Apache-2.0
// error: results_are_handed_out_by_a_session_of_an_app_and_popped_from_any_other
// place: any_session<int, int>
//
// The results of an any_session are popped.

#include <levada/interop/as_future.hpp>
#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  lv::async_session session(app.open());
#else
  const lv::any_pipeline<int(int)> any = app;
  lv::async_session session(any.open());
#endif
  return lv::as_future(session.push_async(1)).get();
}
