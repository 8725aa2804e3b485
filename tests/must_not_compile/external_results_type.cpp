// SPDX-License-Identifier: Apache-2.0
// error: session_writes_only_results_that_need_no_destruction_into_memory_of_the_caller
// place: vector<int
//
// Nobody would know when to destroy what was constructed there.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  using result = lv::tensor<int, 3>;
#else
  using result = std::vector<int>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int&) { return result{}; }));
  auto session = app.open<lv::external_results>();
  result to;
  session.push(1, to);
  return session.pop()->value().data() == to.data() ? 0 : 1;
}
