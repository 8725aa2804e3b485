// SPDX-License-Identifier: Apache-2.0
// error: callable_cannot_run_on_this_device
// place: "label"
// place: vulkan<0>
//
// A callable cannot run on a GPU.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"label">([](int v) { return v; });
#else
  auto p = lv::input<int> | lv::on<lv::vulkan<0>>(lv::stage<"label">([](int v) { return v; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
