// SPDX-License-Identifier: Apache-2.0
// error: for_each_is_followed_by_no_collect
// place: "crops"
//
// What for_each gives is collected before anything takes it.

#include <levada/levada.hpp>

namespace lv = levada;

using numbers = lv::bounded<int, 8>;
using box = lv::target<lv::cpu<2>>;
constexpr auto twice = lv::stage<"twice">([](const int& x) { return 2 * x; });

int main() {
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<"crops", 8>(twice) | lv::collect |
                             lv::stage<"size">([](const auto& all) { return all.size(); }));
#else
  auto app = lv::deploy<box>(lv::input<numbers> | lv::for_each<"crops", 8>(twice) |
                             lv::stage<"size">([](const auto& all) { return all.size(); }));
#endif
  return 0;
}
