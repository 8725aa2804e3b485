// SPDX-License-Identifier: Apache-2.0
// error: port_takes_another_item
// place: "camera"
// place: wants<int>
// place: gives<
//
// A port is given an item of another type. Re-enacts "element type mismatch" at an input.

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
  session.push<"camera">("two");
#endif
  return session.pop()->value();
}
