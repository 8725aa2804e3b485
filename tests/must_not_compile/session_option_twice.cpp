// SPDX-License-Identifier: Apache-2.0
// error: session_takes_each_option_once
// place: dedicated
//
// As of deploy's options, one is enough.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::dedicated>();
#else
  auto session = app.open<lv::dedicated, lv::dedicated>();
#endif
  session.push(1);
  return session.pop()->value();
}
