// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "sum"
// place: string
// place-gcc: wants<const int&, const int&>
// place-clang: wants<const int &, const int &>
//
// A join of other types, or another number of them, than the branches give.

#include <string>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::fork(lv::stage<"text">([](const int& x) { return std::to_string(x); }), lv::identity) |
#ifdef LEVADA_CORRECT
      lv::join<"sum">([](const std::string& a, const int& b) { return static_cast<int>(a.size()) + b; }));
#else
      lv::join<"sum">([](const int& a, const int& b) { return a + b; }));
#endif
  return app(1);
}
