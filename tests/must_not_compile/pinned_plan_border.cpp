// SPDX-License-Identifier: Apache-2.0
// error: pinned_plan_has_no_border_after_the_stage
// place: "twice"
//
// A split point has been added since.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }) | lv::split_here |
           lv::stage<"next">([](const int& i) { return i + 1; });
#ifdef LEVADA_CORRECT
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 8 slots | cpu: "twice" | cpu: "next")">>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 8 slots | cpu: "twice" "next")">>(p);
#endif
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<int> items{1, 2, 3};
  int sum = app(items[0]);
  for (auto&& r : app.stream(items)) sum += r.value();
  auto session = app.open();
  session.push(4);
  return sum + session.pop()->value();
}
