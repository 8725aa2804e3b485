// SPDX-License-Identifier: Apache-2.0
// error: tee_has_to_end_in_a_sink
// place: "sum"
// place: int
//
// Nobody takes what the branch gives, at whatever rate.

#include <array>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::stage<"sum">([](const std::array<int, 2>& b) { return b[0] + b[1]; });
  const auto log = lv::sink<"log">([](const int&) {});
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::tee(lv::batch<2> | sum | log) | lv::stage<"one">([](const int& x) { return x + 1; });
#else
  auto p = lv::input<int> | lv::tee(lv::batch<2> | sum) | lv::stage<"one">([](const int& x) { return x + 1; });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return session.pop().has_value() && log.name.empty();
}
