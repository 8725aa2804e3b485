// SPDX-License-Identifier: Apache-2.0
// error: pace_is_said_where_items_come_in_and_not_further_on
// place: "33 ms"
//
// Inside a pipeline the items come as those before them do.

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  auto half = lv::input<int> | lv::stage<"half">([](const int& i) { return i / 2; });
  auto p = lv::input<int, lv::every<33_ms>> | lv::stage<"twice">([](const int& i) { return 2 * i; }) | half;
#else
  auto half = lv::input<int, lv::every<33_ms>> | lv::stage<"half">([](const int& i) { return i / 2; });
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; }) | half;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::estimates_count>(p);
  return app(1);
}
