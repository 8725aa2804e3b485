// SPDX-License-Identifier: Apache-2.0
// error: device_needs_the_header_that_brings_its_driver
// place: simulated<0>
//
// A simulated device without <levada/run/simulated.hpp>.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"a">([](int v) { return v; });
#else
  auto p = lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"a">([](int v) { return v; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
