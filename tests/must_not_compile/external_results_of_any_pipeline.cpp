// SPDX-License-Identifier: Apache-2.0
// error: session_of_any_pipeline_gives_its_results_by_value
//
// The results of a session that is known by its items alone do not go to the memory of who pushes.

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  const lv::any_pipeline<int(int)> any = app;
#ifdef LEVADA_CORRECT
  auto session = any.open();
#else
  auto session = any.open<lv::external_results>();
#endif
  return session.is_over();
}
