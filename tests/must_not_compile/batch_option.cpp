// SPDX-License-Identifier: Apache-2.0
// error: rate_has_no_such_option
// place: "batch"
// place: duration
//
// A time alone does not say what is to happen then.

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

using box = lv::target<lv::cpu<2>>;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<int> | lv::batch<8, lv::timeout<20_ms>>;
#else
  const auto p = lv::input<int> | lv::batch<8, 20_ms>;
#endif
  auto app = lv::deploy<box>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
