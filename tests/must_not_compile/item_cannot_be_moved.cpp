// SPDX-License-Identifier: Apache-2.0
// error: item_cannot_be_moved
// place: "lock"
// place: scoped
//
// A stage gives an item that nobody can move into its slot.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

struct scoped {
  scoped() = default;
  scoped(scoped&&) = delete;
  int level = 1;
};

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"lock">([](const int&) { return scoped().level; }) |
           lv::stage<"use">([](const int& level) { return level; });
#else
  auto p = lv::input<int> | lv::stage<"lock">([](const int&) { return scoped(); }) |
           lv::stage<"use">([](const scoped& s) { return s.level; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<int> items{1, 2, 3};
  int sum = app(items[0]);
  for (auto&& r : app.stream(items)) sum += r.value();
  auto session = app.open();
  session.push(4);
  return sum + session.pop()->value();
}
