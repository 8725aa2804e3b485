// SPDX-License-Identifier: Apache-2.0
// error: branch_ends_in_a_sink_and_gives_nothing_to_join
// place: "log"
//
// A branch that gives nothing is a tee.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto log = lv::sink<"log">([](const int&) {});
  const auto one = lv::stage<"one">([](const int& x) { return x + 1; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::tee(log) | one);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::fork(log, one) |
                                                lv::join<"sum">([](const int& a, const int& b) { return a + b; }));
#endif
  return app(1);
}
