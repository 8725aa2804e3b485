// SPDX-License-Identifier: Apache-2.0
// error: ports_that_meet_by_number_block_or_reject_for_what_is_dropped_would_shift_partners
// place: drop_newest
//
// A port without a policy of its own has the session's, which may not drop either where they meet by number.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::graph(
      lv::port<"imu", int>, lv::port<"camera", int>, lv::node<"sum", "imu", "camera">(sum), lv::output<"y", "sum">));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::overflow<lv::reject>, lv::overflow<lv::block, "camera">>();
#else
  auto session = app.open<lv::overflow<lv::drop_newest>, lv::overflow<lv::block, "camera">>();
#endif
  session.push<"imu">(1);
  session.push<"camera">(2);
  return session.pop()->value();
}
