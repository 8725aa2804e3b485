// SPDX-License-Identifier: Apache-2.0
// error: any_of_takes_different_devices_of_one_kind_that_is_not_the_processor
// place: any_of<
//
// Two devices of a set are one and the same.

#include <levada/levada.hpp>

#include <levada/run/simulated.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  using devices = lv::any_of<lv::simulated<0>, lv::simulated<1>>;
#else
  using devices = lv::any_of<lv::simulated<0>, lv::simulated<0>>;
#endif
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>, devices>>(p);
  return app(1);
}
