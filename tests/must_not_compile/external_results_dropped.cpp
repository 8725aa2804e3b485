// SPDX-License-Identifier: Apache-2.0
// error: session_that_drops_older_items_cannot_write_results_into_memory_of_the_caller
//
// The caller would wait for a result that was dropped.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"same">([](const int& i) { return i; }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::external_results, lv::overflow<lv::reject>>();
#else
  auto session = app.open<lv::external_results, lv::overflow<lv::drop_oldest>>();
#endif
  int to = 0;
  session.push(1, to);
  return static_cast<int>(session.counts().pushed);
}
