// SPDX-License-Identifier: Apache-2.0
// error: session_takes_no_items_from_several_threads
// place: future_session<
//
// Any number of threads push into a session of futures as it is.

#include <levada/interop/future_session.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  lv::future_session session(app.open());
#endif
  lv::multi_producer producers(session);
  return producers.push(1);
}
