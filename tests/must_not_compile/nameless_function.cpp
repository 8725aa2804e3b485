// SPDX-License-Identifier: Apache-2.0
// error: no_part_of_a_pipeline_write_stage_with_a_name_around_it
// place-gcc: int(const int&)
// place-clang: int (const int &)
//
// A function that is not called anything, behind a stage.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int thrice(const int& i) { return 3 * i; }

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }) | lv::stage<"thrice">(thrice);
#else
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }) | thrice;
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
