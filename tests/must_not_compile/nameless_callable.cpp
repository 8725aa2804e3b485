// SPDX-License-Identifier: Apache-2.0
// error: no_part_of_a_pipeline_write_stage_with_a_name_around_it
// place: lambda
//
// A callable that is not called anything.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
#else
  auto p = lv::input<int> | [](const int& i) { return 2 * i; };
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
