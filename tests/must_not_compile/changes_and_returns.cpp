// SPDX-License-Identifier: Apache-2.0
// error: stage_changes_its_input_and_returns_another_item
// place: "strip"
//
// A stage that changes its input and returns another item.

#include <string>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<std::string> | lv::stage<"strip">([](const std::string& s) { return s.size(); });
#else
  auto p = lv::input<std::string> | lv::stage<"strip">([](std::string& s) { return s.size(); });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
