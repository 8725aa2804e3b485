// SPDX-License-Identifier: Apache-2.0
// error: session_that_drops_older_items_needs_items_that_move_without_throwing
// place: item
//
// An item that gives way moves its younger neighbours, which must not fail half way.

#include <levada/levada.hpp>

namespace lv = levada;

struct item {
  item() = default;
#ifdef LEVADA_CORRECT
  item(item&&) noexcept {}
#else
  item(item&&) {}
#endif
};

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<item> | lv::stage<"a">([](const item&) { return 1; }));
  static_assert(decltype(app)::plan.segments == 1);
  auto session = app.open<lv::latest_only>();
  session.push(item());
  return session.pop()->value();
}
