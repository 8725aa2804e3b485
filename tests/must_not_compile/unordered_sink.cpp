// SPDX-License-Identifier: Apache-2.0
// error: unordered_session_needs_a_pipeline_that_gives_results
//
// Behind a sink nothing leaves.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::sink<"s">([](const int&) {}));
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  auto session = app.open<lv::unordered>();
#endif
  session.push(1);
}
