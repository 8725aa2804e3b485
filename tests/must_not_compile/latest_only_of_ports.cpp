// SPDX-License-Identifier: Apache-2.0
// error: session_of_the_latest_item_only_is_pushed_whole_items_not_ports
//
// What waits for its first stage is an item that is complete; a part of one has nothing to give way to.

#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

using both = lv::named_items<lv::named_item<"imu", int>, lv::named_item<"camera", int>>;

int main() {
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::sync_by_time<>(lv::port<"imu", int>, lv::port<"camera", int>) |
                                                lv::stage<"a">([](const both& b) { return b.get<"imu">(); }));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::overflow<lv::drop_oldest, "camera">>();
#else
  auto session = app.open<lv::overflow<lv::drop_oldest, "camera">, lv::latest_only>();
#endif
  session.push<"imu">(1);
  return session.pop()->value();
}
