// SPDX-License-Identifier: Apache-2.0
// error: session_whose_stages_stay_off_the_calling_threads_cannot_run_an_item_inline
//
// `dedicated` and `inline_when_idle` ask for the opposite of each other.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::dedicated>();
#else
  auto session = app.open<lv::dedicated, lv::inline_when_idle>();
#endif
  session.push(1);
  return session.pop()->value();
}
