// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_port_of_that_name
// place: "gyro"
// place: wants<
// place: "imu"
//
// A session of two ports is pushed to by a name that neither has.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::graph(
      lv::port<"imu", int>, lv::port<"camera", int>, lv::node<"sum", "imu", "camera">(sum), lv::output<"y", "sum">));
  auto session = app.open();
  session.push<"imu">(1);
#ifdef LEVADA_CORRECT
  session.push<"camera">(2);
#else
  session.push<"gyro">(2);
#endif
  return session.pop()->value();
}
