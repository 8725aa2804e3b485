// SPDX-License-Identifier: Apache-2.0
// error: stage_is_pinned_to_a_device_the_target_lacks
// place: "conv"
// place: vulkan<1>, levada::target<levada::cpu<2>
//
// A stage pinned to a device that the target does not have.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::on<lv::cpu<2>>(lv::stage<"conv">([](int v) { return v; }));
#else
  auto p = lv::input<int> | lv::on<lv::vulkan<1>>(lv::stage<"conv">([](int v) { return v; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
