// SPDX-License-Identifier: Apache-2.0
// error: session_takes_no_items_from_several_threads
// place: async_session<
//
// Any number of threads start items in an async_session as it is.

#include <levada/levada.hpp>
#include <levada/run/async_session.hpp>
#include <levada/run/multi_producer.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  lv::async_session session(app.open());
#endif
  lv::multi_producer producers(session);
  return producers.push(1);
}
