// SPDX-License-Identifier: Apache-2.0
// error: results_are_handed_out_by_a_session_of_an_app_and_popped_from_any_other
// place: any_session<int, int>
//
// The results of a session that goes on across swaps are popped.

#include <levada/levada.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/hot_swap.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  lv::async_session session(app.open());
#else
  const lv::hot_swap<int(int)> hot(app);
  lv::async_session session(hot.open());
#endif
  return session.is_over();
}
