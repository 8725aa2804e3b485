// SPDX-License-Identifier: Apache-2.0
// error: session_has_no_such_option
// place: on_late<
//
// Where no latency is promised no item is late.

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "detect(4 bytes) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows};

void hear(const lv::late_item&) noexcept {}

int main() {
  auto p = lv::input<int> | lv::stage<"detect">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::latency<10_ms>>>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::interval<10_ms>>>(p);
#endif
  auto session = app.open<lv::on_late<&hear>>();
  session.push(1);
  return session.pop()->value();
}
