// SPDX-License-Identifier: Apache-2.0
// error: session_has_two_deadlines
//
// One of them would be ignored.

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::deadline<5_ms>>();
#else
  auto session = app.open<lv::deadline<5_ms>, lv::deadline<50_ms>>();
#endif
  session.push(1);
  return session.pop()->value();
}
