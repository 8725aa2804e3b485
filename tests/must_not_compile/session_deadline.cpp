// SPDX-License-Identifier: Apache-2.0
// error: deadline_of_no_time_would_drop_every_item
//
// No time at all is not the same as no deadline.

#include <levada/levada.hpp>

namespace lv = levada;
using lv::operator""_ms;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  static_assert(decltype(app)::plan.segments == 1);
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::deadline<1_ms>>();
#else
  auto session = app.open<lv::deadline<0_ms>>();
#endif
  session.push(1);
  return session.pop()->value();
}
