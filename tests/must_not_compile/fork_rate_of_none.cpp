// SPDX-License-Identifier: Apache-2.0
// error: rate_takes_and_gives_one_item_or_more
// place: "batch"
//
// In a branch, too.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<int> | lv::fork(lv::batch<2>, lv::batch<2>) |
                 lv::join<"sum">([](const auto& a, const auto& b) { return a[0] + b[0]; });
#else
  const auto p = lv::input<int> | lv::fork(lv::batch<2>, lv::batch<0>) |
                 lv::join<"sum">([](const auto& a, const auto& b) { return a[0] + b[0]; });
#endif
  auto app = lv::deploy<box>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
