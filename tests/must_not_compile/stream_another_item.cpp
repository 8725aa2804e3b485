// SPDX-License-Identifier: Apache-2.0
// error: pipeline_streams_a_range_of_its_items
// place: wants<int>
// place: gives<
// place: basic_string
//
// A range of something else.

#include <string>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
#ifdef LEVADA_CORRECT
  const std::vector<int> items{1, 2};
#else
  const std::vector<std::string> items{"one", "two"};
#endif
  auto results = app.stream(items);
  int sum = app(3);
  for (auto&& r : results) sum += r.value();
  return sum;
}
