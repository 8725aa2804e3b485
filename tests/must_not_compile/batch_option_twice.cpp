// SPDX-License-Identifier: Apache-2.0
// error: rate_takes_each_option_once
// place: "batch"
// place: timeout_option
//
// The second time would hold.

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  const auto p = lv::input<int> | lv::batch<8, lv::timeout<20_ms>, lv::partial::drop>;
#else
  const auto p = lv::input<int> | lv::batch<8, lv::timeout<20_ms>, lv::timeout<30_ms>>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push({});
  return 0;
}
