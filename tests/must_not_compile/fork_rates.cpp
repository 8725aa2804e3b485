// SPDX-License-Identifier: Apache-2.0
// error: branches_of_a_fork_give_at_different_rates
// place: given_of<1, 2>
// place: 1
// place: given_of<3, 4>
//
// The balance equations of the fork have no solution: branch 1 gives three of four items, branch 0 one of two.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::fork(lv::downsample<2>, lv::repeat<3> | lv::downsample<6>) | sum;
#else
  auto p = lv::input<int> | lv::fork(lv::downsample<2>, lv::repeat<3> | lv::downsample<4>) | sum;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
