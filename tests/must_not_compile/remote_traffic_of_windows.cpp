// SPDX-License-Identifier: Apache-2.0
// error: budget_of_traffic_cannot_be_checked_behind_a_rate_that_depends_on_its_items
// place: "edge"
// place: "window"
//
// How many windows there are in chunks of any length, nobody knows.

#include <vector>

#include <levada/levada.hpp>
#include <levada/remote.hpp>
#include <levada/remote/in_process.hpp>

namespace lv = levada;
using namespace lv::literals;

#ifdef LEVADA_CORRECT
using chunk = lv::tensor<float, 20>;
#else
using chunk = std::vector<float>;
#endif

int main() {
  using box = lv::target<lv::cpu<2>, lv::remote<"edge", lv::cpu<2>>>;
  const auto by = std::make_shared<lv::in_process>();
  auto p = lv::input<chunk> | lv::window<40, 20> |
           lv::on<lv::remote<"edge">>(lv::stage<"loudness">([](const lv::tensor<float, 40>& w) { return w[0]; }));
  auto app = lv::deploy<box, lv::version<"1">, lv::budget<lv::traffic<1_KiB>>>(p, lv::endpoints<"edge">{by, {"a"}});
  static_assert(decltype(app)::plan.regions == 2);
  return 0;
}
