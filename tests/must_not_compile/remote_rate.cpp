// SPDX-License-Identifier: Apache-2.0
// error: part_on_another_machine_gives_one_result_for_each_item
// place: "edge"
//
// A change of rate is on the driver's side of the way.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
#ifdef LEVADA_CORRECT
  auto part = lv::stage<"same">([](int v) { return v; });
#else
  auto part = lv::stage<"same">([](int v) { return v; }) | lv::downsample<2>;
#endif
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(part);
  const auto node = lv::serve<box, "edge", lv::version<"1">>(p, {by, "a"});
  return static_cast<int>(node.sessions());
}
