// SPDX-License-Identifier: Apache-2.0
// error: for_each_has_room_for_one_part_or_more
// place: "crops"
//
// No room for any part.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<lv::bounded<int, 8>> |
                 lv::for_each<"crops", 8>(lv::identity | lv::stage<"twice">([](const int& x) { return 2 * x; })) |
                 lv::collect;
#else
  const auto p = lv::input<lv::bounded<int, 8>> |
                 lv::for_each<"crops", 0>(lv::identity | lv::stage<"twice">([](const int& x) { return 2 * x; })) |
                 lv::collect;
#endif
  auto app = lv::deploy<box>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
