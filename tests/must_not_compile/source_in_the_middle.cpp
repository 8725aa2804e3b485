// SPDX-License-Identifier: Apache-2.0
// error: source_is_not_the_first_stage
// place: "work"
// place: "camera"
//
// An input driven twice: a source behind another stage.

#include <optional>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"work">([](int v) { return v; }) |
           lv::stage<"camera">([](int v) { return std::optional<int>(v); });
#else
  auto p = lv::input<int> | lv::stage<"work">([](int v) { return v; }) |
           lv::source<"camera">([] { return std::optional<int>(); });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
