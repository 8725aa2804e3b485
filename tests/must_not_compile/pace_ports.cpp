// SPDX-License-Identifier: Apache-2.0
// error: ports_that_meet_by_number_come_at_one_pace
// place: "left"
// place: "33 ms"
// place: "right"
// place: "40 ms"
//
// The items of two ports meet one by one: those of the faster would wait without end.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::graph(lv::port<"left", int, lv::every<33_ms>>, lv::port<"right", int, lv::every<33_ms>>,
                     lv::node<"pair", "left", "right">([](const int& l, const int& r) { return l + r; }),
                     lv::output<"depth", "pair">);
#else
  auto p = lv::graph(lv::port<"left", int, lv::every<33_ms>>, lv::port<"right", int, lv::every<40_ms>>,
                     lv::node<"pair", "left", "right">([](const int& l, const int& r) { return l + r; }),
                     lv::output<"depth", "pair">);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::estimates_count>(p);
  return app(lv::named_items<lv::named_item<"left", int>, lv::named_item<"right", int>>{1, 2});
}
