// SPDX-License-Identifier: Apache-2.0
// error: rate_takes_and_gives_one_item_or_more
// place: "downsample"
//
// One of no items.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<int> | lv::downsample<2>;
#else
  const auto p = lv::input<int> | lv::downsample<0>;
#endif
  auto app = lv::deploy<box>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
