// SPDX-License-Identifier: Apache-2.0
// error: pipeline_has_no_part_on_that_device
// place: "hall"
//
// The program of a node, whose device has another name in the pipeline.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"twice">([](int v) { return 2 * v; }));
#ifdef LEVADA_CORRECT
  const auto node = lv::serve<box, "edge", lv::version<"1">>(p, {by, "a"});
#else
  const auto node = lv::serve<box, "hall", lv::version<"1">>(p, {by, "a"});
#endif
  return static_cast<int>(node.sessions());
}
