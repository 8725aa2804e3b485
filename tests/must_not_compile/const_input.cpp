// SPDX-License-Identifier: Apache-2.0
// error: input_is_not_a_plain_object_type
// place: const int
//
// Items are moved along, so their type is not const.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
#else
  auto p = lv::input<const int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
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
