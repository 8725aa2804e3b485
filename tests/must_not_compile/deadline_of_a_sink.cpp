// SPDX-License-Identifier: Apache-2.0
// error: deadline_at_the_output_needs_a_pipeline_that_gives_results
//
// Behind a sink nothing is handed out that could be looked at once more.

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::sink<"end">([](const int&) {}));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::deadline<5_ms>>();
#else
  auto session = app.open<lv::deadline<5_ms, lv::at_output>>();
#endif
  session.push(1);
  session.drain();
}
