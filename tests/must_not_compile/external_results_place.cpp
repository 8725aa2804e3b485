// SPDX-License-Identifier: Apache-2.0
// error: session_with_external_results_takes_an_item_and_where_its_result_goes
// place: tensor<int, 3
//
// An item without a place for its result.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  using result = lv::tensor<int, 3>;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int&) { return result{}; }));
  auto session = app.open<lv::external_results>();
#ifdef LEVADA_CORRECT
  result to;
  session.push(1, to);
#else
  session.push(1);
#endif
  return session.pop()->value()[0];
}
