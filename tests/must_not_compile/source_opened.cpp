// SPDX-License-Identifier: Apache-2.0
// error: pipeline_with_a_source_is_run_or_streamed_not_opened
//
// A source is asked for its items, and nobody pushes any: `app.stream()`, or `app.run()` before a sink.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::source<"camera">([n = 0]() mutable { return n < 3 ? std::optional(n++) : std::nullopt; }) |
      lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  int sum = 0;
  for (auto&& r : app.stream()) sum += r.value();
  return sum;
#else
  auto session = app.open<lv::latest_only>();
#endif
}
