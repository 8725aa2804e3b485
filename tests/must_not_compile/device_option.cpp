// SPDX-License-Identifier: Apache-2.0
// error: device_takes_a_bound_on_its_memory_and_nothing_else
// place: simulated<0
//
// A device is told twice how much memory it may keep.

#include <levada/levada.hpp>

#include <levada/run/simulated.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  using device = lv::simulated<0, lv::memory<1_MiB>>;
#else
  using device = lv::simulated<0, lv::memory<1_MiB>, lv::memory<2_MiB>>;
#endif
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>, device>>(p);
  return app(1);
}
