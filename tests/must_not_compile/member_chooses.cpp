// SPDX-License-Identifier: Apache-2.0
// error: route_is_chosen_by_a_bool_or_an_index_of_the_item
// place: "sure"
//
// A pointer to a member is called by nobody.

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
  const auto choose = [](const reading& r) { return r.large(); };
#else
  const auto choose = &reading::large;
#endif
  const auto p = lv::input<reading> | lv::route<"sure">(choose, lv::identity, lv::identity);
  auto app = lv::deploy<box>(p);
  static_assert(decltype(app)::plan.segments == 1);
  return 0;
}
