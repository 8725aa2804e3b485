// SPDX-License-Identifier: Apache-2.0
// error: fork_is_joined_by_no_stage
//
// Branches whose items nobody takes.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::fork(lv::stage<"a">([](const int& x) { return x + 1; }), lv::identity)
#ifdef LEVADA_CORRECT
      | lv::join<"sum">([](const int& a, const int& b) { return a + b; })
#endif
  );
  return app(1);
}
