// SPDX-License-Identifier: Apache-2.0
// error: only_a_pipeline_can_be_deployed
// place: <int>
//
// Something is deployed that is no pipeline.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
#else
  auto p = 42;
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
