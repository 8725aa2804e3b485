// SPDX-License-Identifier: Apache-2.0
// error: plan_needs_more_of_the_memory_of_a_device_than_its_bound
// place: "simulated<0>"
// place: "large"
//
// A stage pinned to a device that may not keep so much: 64 slots of what it takes and gives.

#include <levada/levada.hpp>

#include <levada/run/simulated.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  using device = lv::simulated<0, lv::memory<8_MiB>>;
#else
  using device = lv::simulated<0, lv::memory<1_MiB>>;
#endif
  auto p = lv::input<int> | lv::on<lv::simulated<0>>(lv::stage<"large">([](int v) {
             lv::tensor<float, 100, 100> t;
             t.fill(static_cast<float>(v));
             return t;
           }));
  auto app = lv::deploy<lv::target<lv::cpu<2>, device>>(p);
  static_assert(decltype(app)::plan.segments == 1);
  auto session = app.open();
  session.push(1);
  return static_cast<int>(session.pop()->value()[0]);
}
