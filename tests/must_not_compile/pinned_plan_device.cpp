// SPDX-License-Identifier: Apache-2.0
// error: pinned_plan_names_a_device_the_target_lacks
// place: "next"
// place: simulated<0>
//
// The plan was saved for another target.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }) |
           lv::stage<"next">([](const int& i) { return i + 1; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 8 slots | cpu: "twice" "next")">>(p);
#else
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>, lv::pinned<R"(levada plan 1: 8 slots | cpu: "twice" | simulated<0>: "next")">>(
          p);
#endif
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<int> items{1, 2, 3};
  int sum = app(items[0]);
  for (auto&& r : app.stream(items)) sum += r.value();
  auto session = app.open();
  session.push(4);
  return sum + session.pop()->value();
}
