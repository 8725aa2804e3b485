// SPDX-License-Identifier: Apache-2.0
// error: sink_cannot_be_called_with_the_item
// place: "print"
//
// A sink for another item.

#include <string>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<std::string> | lv::sink<"print">([](const std::string&) {});
#else
  auto p = lv::input<int> | lv::sink<"print">([](const std::string&) {});
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
