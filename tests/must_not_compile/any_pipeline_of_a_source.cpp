// SPDX-License-Identifier: Apache-2.0
// error: any_pipeline_cannot_hold_a_source
//
// A pipeline that has its own source is given to consumers who are to push the items.

#include <optional>

#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

lv::any_pipeline<int(int)> make_numbers() {
#ifdef LEVADA_CORRECT
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }));
#else
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::source<"ones">([] { return std::optional<int>(1); }) |
                                            lv::stage<"twice">([](const int& i) { return 2 * i; }));
#endif
}
