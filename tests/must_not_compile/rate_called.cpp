// SPDX-License-Identifier: Apache-2.0
// error: pipeline_that_changes_its_rate_is_streamed_or_pushed_to_not_called
//
// One item has no one result where the rate changes.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::repeat<2> | lv::stage<"one">([](const int& x) { return x + 1; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
#ifdef LEVADA_CORRECT
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
#else
  return app(1);
#endif
}
