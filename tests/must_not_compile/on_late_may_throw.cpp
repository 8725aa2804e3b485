// SPDX-License-Identifier: Apache-2.0
// error: on_late_takes_a_late_item_and_does_not_throw
// place: late_item
//
// What hears of late items stands between a result and who pops it: it cannot throw.

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows};

#ifdef LEVADA_CORRECT
void hear(const lv::late_item&) noexcept {}
#else
void hear(const lv::late_item&) {}
#endif

int main() {
  auto p = lv::input<int> | lv::stage<"detect">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::latency<10_ms>>>(p);
  auto session = app.open<lv::on_late<&hear>>();
  session.push(1);
  return session.pop()->value();
}
