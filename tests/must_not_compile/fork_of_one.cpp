// SPDX-License-Identifier: Apache-2.0
// error: fork_takes_two_to_eight_branches
//
// A fork of one branch is none.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::fork(one, lv::identity) | sum);
  return app(1);
#else
  auto branches = lv::fork(one);
  return sizeof(lv::input<int> | branches | sum) != 0;
#endif
}
