// SPDX-License-Identifier: Apache-2.0
// error: stages_inside_another_run_where_that_one_runs
// place: "on a device"
// place: simulated<0
//
// What a for_each holds is one stage of the processor.

#include <levada/levada.hpp>

#include <levada/run/simulated.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;

int main() {
  const auto inner = lv::stage<"on a device">([](const int& x) { return 2 * x; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<numbers> | lv::for_each<8>(inner) | lv::collect;
#else
  auto p = lv::input<numbers> | lv::for_each<8>(lv::on<lv::simulated<0>>(inner)) | lv::collect;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::simulated<0>>>(p);
  return static_cast<int>(app(numbers{1, 2}).size());
}
