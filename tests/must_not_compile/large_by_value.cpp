// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_a_large_item_by_value_write_const_reference
// place: "sum"
// place: const levada::tensor<float, 3, 64, 64>
//
// A large item by value would live on the stack.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 3, 64, 64>> |
           lv::stage<"sum">([](const lv::tensor<float, 3, 64, 64>& t) { return t[0]; });
#else
  auto p =
      lv::input<lv::tensor<float, 3, 64, 64>> | lv::stage<"sum">([](lv::tensor<float, 3, 64, 64> t) { return t[0]; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
