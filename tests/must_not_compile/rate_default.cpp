// SPDX-License-Identifier: Apache-2.0
// error: what_a_rate_gives_has_no_default_constructor
// place: "sum"
// place: total
//
// A rate gives its callable items that are there already.

#include <levada/levada.hpp>

namespace lv = levada;

struct total {
#ifdef LEVADA_CORRECT
  total() = default;
#endif
  explicit total(int v) : value(v) {}
  int value = 0;
};

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(
      lv::input<int> | lv::rate<"sum", 2, 1, total>(
                           [](std::span<const int, 2> in, std::span<total, 1> out) { out[0] = total(in[0] + in[1]); }));
  auto session = app.open();
  session.push({});
  return 0;
}
