// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_port_of_that_name
// place: "camera"
//
// A policy is said of a port where the session takes whole items.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::overflow<lv::drop_oldest>>();
#else
  auto session = app.open<lv::overflow<lv::drop_oldest, "camera">>();
#endif
  session.push(1);
  return session.pop()->value();
}
