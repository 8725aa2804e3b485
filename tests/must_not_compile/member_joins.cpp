// SPDX-License-Identifier: Apache-2.0
// error: stage_is_a_pointer_to_a_member_write_a_lambda_that_calls_it
// place: "sum"
// place: reading::*
//
// A join is a callable, too.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
struct reading {
  int value = 0;
  int twice() const { return 2 * value; }
  bool large() const { return value > 9; }
};

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<reading> | lv::fork(lv::identity, lv::identity) |
                 lv::join<"sum">([](const reading& a, const reading& b) { return a.value + b.value; });
#else
  const auto p = lv::input<reading> | lv::fork(lv::identity, lv::identity) | lv::join<"sum">(&reading::twice);
#endif
  auto app = lv::deploy<box>(p);
  static_assert(decltype(app)::plan.segments == 1);
  return 0;
}
