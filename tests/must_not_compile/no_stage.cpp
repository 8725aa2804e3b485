// SPDX-License-Identifier: Apache-2.0
// error: pipeline_has_no_stage
//
// An empty pipeline.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"same">([](int v) { return v; });
#else
  auto p = lv::input<int> | lv::split_after<>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
