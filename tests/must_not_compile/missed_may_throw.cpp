// SPDX-License-Identifier: Apache-2.0
// error: stage_is_told_of_missing_items_by_a_member_that_has_to_be_noexcept
// place: "sum"
//
// What a stage is told of items that ended before it cannot fail.

#include <levada/levada.hpp>

namespace lv = levada;

struct sum {
  int of = 0;
  int operator()(const int& v) { return of += v; }
#ifdef LEVADA_CORRECT
  void missed(lv::missing) noexcept { ++of; }
#else
  void missed(lv::missing) { ++of; }
#endif
};

int main() {
  auto p = lv::input<int> | lv::stage<"sum">(sum{});
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
