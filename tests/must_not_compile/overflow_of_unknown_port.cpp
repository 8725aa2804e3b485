// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_port_of_that_name
// place: "gyro"
//
// A policy is said of a port that the session does not have.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::graph(
      lv::port<"imu", int>, lv::port<"camera", int>, lv::node<"sum", "imu", "camera">(sum), lv::output<"y", "sum">));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::overflow<lv::reject, "camera">>();
#else
  auto session = app.open<lv::overflow<lv::reject, "gyro">>();
#endif
  session.push<"imu">(1);
  session.push<"camera">(2);
  return session.pop()->value();
}
