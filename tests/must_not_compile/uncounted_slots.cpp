// SPDX-License-Identifier: Apache-2.0
// error: deploy_counts_slots_in_32_bits
// place: slots<1099511627776>
//
// More slots than their bytes can be counted of.

#include <cstddef>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<4>>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::slots<(std::size_t{1} << 40)>>(p);
#endif
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<int> items{1, 2, 3};
  int sum = app(items[0]);
  for (auto&& r : app.stream(items)) sum += r.value();
  auto session = app.open();
  session.push(4);
  return sum + session.pop()->value();
}
