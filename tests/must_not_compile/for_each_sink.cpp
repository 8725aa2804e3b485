// SPDX-License-Identifier: Apache-2.0
// error: pipeline_inside_a_stage_ends_in_a_sink_and_gives_nothing
// place: "crops"
// place: "log"
//
// There is something to collect.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(
      lv::input<numbers> | lv::for_each<"crops", 8>(twice | lv::tee(lv::sink<"log">([](const int&) {}))) | lv::collect);
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<"crops", 8>(twice | lv::sink<"log">([](const int&) {})) |
                             lv::collect);
#endif
  return 0;
}
