// SPDX-License-Identifier: Apache-2.0
// error: item_is_captured_at_a_time_point_of_the_steady_clock
// place: chrono
//
// A session is told how long ago an item was captured, not when.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }));
  auto session = app.open();
#ifdef LEVADA_CORRECT
  session.push(4, std::chrono::steady_clock::now() - std::chrono::milliseconds(5));
#else
  session.push(4, std::chrono::milliseconds(5));
#endif
  session.close();
  return session.pop()->value();
}
