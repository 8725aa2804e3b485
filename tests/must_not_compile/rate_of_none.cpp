// SPDX-License-Identifier: Apache-2.0
// error: rate_takes_and_gives_one_item_or_more
// place: "sum"
// place: 2, 0
//
// A callable that gives nothing for two items is a sink.

#include <levada/levada.hpp>

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<int> | lv::rate<"sum", 2, 1, int>([](std::span<const int, 2> in, std::span<int, 1> out) {
                   out[0] = in[0] + in[1];
                 });
#else
  const auto p = lv::input<int> | lv::rate<"sum", 2, 0, int>([](std::span<const int, 2>, std::span<int, 0>) {});
#endif
  auto app = lv::deploy<box>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
