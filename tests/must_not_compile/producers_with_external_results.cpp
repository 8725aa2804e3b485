// SPDX-License-Identifier: Apache-2.0
// error: session_takes_no_items_from_several_threads
// place: session<int, int
//
// Where results are written into the memory of who pushes, one thread does.

#include <levada/levada.hpp>
#include <levada/run/multi_producer.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open();
#else
  auto session = app.open<lv::external_results>();
#endif
  lv::multi_producer producers(session);
  return producers.push(1);
}
