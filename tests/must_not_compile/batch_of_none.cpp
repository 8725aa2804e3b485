// SPDX-License-Identifier: Apache-2.0
// error: rate_takes_and_gives_one_item_or_more
// place: "batch"
// place: 0
//
// A batch of no item.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<int> | lv::batch<8>;
#else
  const auto p = lv::input<int> | lv::batch<0>;
#endif
  auto app = lv::deploy<box>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
