// SPDX-License-Identifier: Apache-2.0
// error: device_runs_one_part_of_a_pipeline_not_two
// place: "edge"
//
// Items go to a machine once. Stages that follow each other are one part.

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto twice = [](int v) { return 2 * v; };
  auto p = lv::input<int> | lv::on<lv::remote<"edge">>(lv::stage<"first">(twice))
#ifndef LEVADA_CORRECT
           | lv::stage<"here">(twice)
#endif
           | lv::on<lv::remote<"edge">>(lv::stage<"last">(twice));
  auto app = lv::deploy<box, lv::version<"1">>(p, lv::endpoints<"edge">{by, {"a"}});
  return app(21);
}
