// SPDX-License-Identifier: Apache-2.0
// error: recorder_pushes_into_a_session_of_an_app_of_its_items_without_external_results
// place: any_session<int
//
// An any_pipeline has no sessions in the time of a clock that it could be replayed in.

#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  lv::recorder<int> to("drive.rec");
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  const lv::any_pipeline<int(int)> any = app;
  auto session = any.open();
#endif
  return to.push(session, 1);
}
