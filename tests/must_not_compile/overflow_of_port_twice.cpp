// SPDX-License-Identifier: Apache-2.0
// error: session_is_told_twice_what_this_port_does_when_full
// place: "imu"
//
// Two options name the same port.

#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

using both = lv::named_items<lv::named_item<"imu", int>, lv::named_item<"camera", int>>;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::sync_by_time<>(lv::port<"imu", int>, lv::port<"camera", int>) |
                                                lv::stage<"a">([](const both& b) { return b.get<"imu">(); }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::overflow<lv::drop_newest, "camera">, lv::overflow<lv::block, "imu">>();
#else
  auto session = app.open<lv::overflow<lv::drop_newest, "camera", "imu">, lv::overflow<lv::block, "imu">>();
#endif
  session.push<"imu">(1);
  return session.pop()->value();
}
