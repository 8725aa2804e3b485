// SPDX-License-Identifier: Apache-2.0
// error: session_is_told_twice_what_it_does_when_full
//
// `latest_only` is what it does when it is full, too.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::latest_only>();
#else
  auto session = app.open<lv::latest_only, lv::overflow<lv::reject>>();
#endif
  session.push(1);
  return session.pop()->value();
}
