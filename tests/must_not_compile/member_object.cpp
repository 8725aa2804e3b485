// SPDX-License-Identifier: Apache-2.0
// error: stage_is_a_pointer_to_a_member_write_a_lambda_that_calls_it
// place: "value"
// place: reading::*
//
// A pointer to a data member is no function of the item.

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
  const auto p = lv::input<reading> | lv::stage<"value">([](const reading& r) { return r.twice(); });
#else
  const auto p = lv::input<reading> | lv::stage<"value">(&reading::value);
#endif
  auto app = lv::deploy<box>(p);
  static_assert(decltype(app)::plan.segments == 1);
  return 0;
}
