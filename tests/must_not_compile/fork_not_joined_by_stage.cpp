// SPDX-License-Identifier: Apache-2.0
// error: stage_behind_a_fork_has_to_join_its_branches
// place: "sum"
//
// A stage of one item behind two branches.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = [](const int& a, const int& b) { return a + b; };
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::fork(lv::stage<"a">([](const int& x) { return x + 1; }), lv::identity)
#ifdef LEVADA_CORRECT
      | lv::join<"sum">(sum));
#else
      | lv::stage<"sum">([sum](const int& x) { return sum(x, x); }));
#endif
  return app(1);
}
