// SPDX-License-Identifier: Apache-2.0
// error: nested_pipeline_declares_another_input_than_it_gets
// place: "to_text"
// place: gives<
// place: wants<int>
//
// A nested pipeline that states another input than the stage before gives.

#include <string>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"to_text">([](int v) { return std::to_string(v); }) |
           (lv::input<std::string> | lv::stage<"post">([](const std::string& v) { return v.size(); }));
#else
  auto p = lv::input<int> | lv::stage<"to_text">([](int v) { return std::to_string(v); }) |
           (lv::input<int> | lv::stage<"post">([](int v) { return v; }));
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
