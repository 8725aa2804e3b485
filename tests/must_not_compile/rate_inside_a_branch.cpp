// SPDX-License-Identifier: Apache-2.0
// error: rate_changes_inside_a_branch
// place: "downsample"
//
// A branch that gives fewer items than its neighbour.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::downsample<2> | lv::fork(lv::identity, lv::identity) | sum;
#else
  auto p = lv::input<int> | lv::fork(lv::downsample<2>, lv::identity) | sum;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop()->value();
}
