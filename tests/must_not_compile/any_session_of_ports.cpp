// SPDX-License-Identifier: Apache-2.0
// error: session_of_any_pipeline_is_pushed_whole_items_not_ports
//
// A pipeline that is known by its item types alone has no ports to push to.

#include <levada/levada.hpp>

namespace lv = levada;

using both = lv::named_items<lv::named_item<"imu", int>, lv::named_item<"camera", int>>;

int main() {
  const auto sum = lv::join<"sum">([](const int& a, const int& b) { return a + b; });
  const lv::any_pipeline<int(both)> app = lv::deploy<lv::target<lv::cpu<2>>>(lv::graph(
      lv::port<"imu", int>, lv::port<"camera", int>, lv::node<"sum", "imu", "camera">(sum), lv::output<"y", "sum">));
#ifdef LEVADA_CORRECT
  auto session = app.open<lv::overflow<lv::reject>>();
#else
  auto session = app.open<lv::overflow<lv::reject, "camera">>();
#endif
  session.push({1, 2});
  return session.pop()->value();
}
