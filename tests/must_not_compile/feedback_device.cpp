// SPDX-License-Identifier: Apache-2.0
// error: stage_inside_a_feedback_cannot_run_on_a_device_of_its_own
// place: "twice"
// place: simulated<0>
//
// Each item would have to go there and back before the next could begin.

#include <levada/levada.hpp>
#include <levada/run/simulated.hpp>

namespace lv = levada;

int main() {
  const auto add = lv::join<"add">([](const int& x, const int& s) { return x + s; });
  const auto twice = lv::stage<"twice">([](const int& s) { return 2 * s; });
  using box = lv::target<lv::cpu<2>, lv::simulated<0>>;
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<box>(lv::input<int> | lv::feedback<"sum">(add | twice, 0));
#else
  auto app = lv::deploy<box>(lv::input<int> | lv::feedback<"sum">(add | lv::on<lv::simulated<0>>(twice), 0));
#endif
  return app(1);
}
