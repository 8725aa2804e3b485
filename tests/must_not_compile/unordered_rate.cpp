// SPDX-License-Identifier: Apache-2.0
// error: pipeline_that_changes_its_rate_gives_its_results_in_order
//
// A batch is of items in their order, and so are the results behind it.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::batch<2> |
                                                lv::stage<"a">([](const std::array<int, 2>& x) { return x[0]; }));
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  auto session = app.open<lv::unordered>();
#endif
  session.push(1);
  session.push(2);
  return session.pop()->value();
}
