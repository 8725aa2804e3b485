// SPDX-License-Identifier: Apache-2.0
// A pipeline in one unit.

#include "twice.hpp"

#include <levada/levada.hpp>

namespace lv = levada;

constexpr int factor = 2;

lv::any_pipeline<int(int)> make_twice() {
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> |
                                            lv::stage<"multiply">([](const int& i) { return factor * i; }));
}
