// SPDX-License-Identifier: Apache-2.0
// error: rate_cannot_take_what_the_stage_before_gives
// place: "unbatch"
// place: gives<int>
//
// What is unbatched is no batch.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::batch<2> | lv::unbatch;
#else
  auto p = lv::input<int> | lv::unbatch;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  session.close();
  return session.pop()->value();
}
