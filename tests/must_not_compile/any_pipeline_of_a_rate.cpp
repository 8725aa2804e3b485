// SPDX-License-Identifier: Apache-2.0
// error: any_pipeline_cannot_hold_a_pipeline_that_changes_its_rate
//
// Consumers know one result for each item.

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

lv::any_pipeline<int(int)> make_numbers() {
  const auto one = lv::stage<"one">([](const int& i) { return i + 1; });
#ifdef LEVADA_CORRECT
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | one);
#else
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | one | lv::downsample<2>);
#endif
}
