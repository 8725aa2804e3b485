// SPDX-License-Identifier: Apache-2.0
// error: session_with_a_name_needs_a_pipeline_that_keeps_its_rate
//
// Behind the batch an item has the number of no item of the source.

#include <levada/fleet/detail/named_session.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::batch<4> | lv::stage<"first">([](const auto& all) { return all[0]; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  auto session = lv::open_named(app, "camera 1");
#endif
  return session.push(1) ? 0 : 1;
}
