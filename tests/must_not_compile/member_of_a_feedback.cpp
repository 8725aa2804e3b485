// SPDX-License-Identifier: Apache-2.0
// error: stage_is_a_pointer_to_a_member_write_a_lambda_that_calls_it
// place: "sum"
// place: reading::*
//
// The callable of a feedback is a stage, too.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
struct reading {
  int value = 0;
  int twice() const { return 2 * value; }
  int added_to(int& sum) const { return sum += value; }
};

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<reading> | lv::feedback<"sum">([](const reading& r, int& sum) { return sum += r.value; }, 0);
#else
  const auto p = lv::input<reading> | lv::feedback<"sum">(&reading::added_to, 0);
#endif
  auto app = lv::deploy<box>(p);
  static_assert(decltype(app)::plan.segments == 1);
  return 0;
}
