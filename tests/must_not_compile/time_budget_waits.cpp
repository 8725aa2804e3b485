// SPDX-License-Identifier: Apache-2.0
// error: budget_of_latency_needs_a_pace_or_a_timeout_where_items_wait_for_later_ones
// place: "latency 90 ms"
// place: "batch"
//
// A budget of latency where an item waits for later ones, of which nobody said when they come.

#include <array>

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "model(16 bytes) -> 16 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::batch<4, lv::timeout<50_ms>> |
#else
  auto p = lv::input<int> | lv::batch<4> |
#endif
           lv::stage<"model">([](const std::array<int, 4>& b) { return b; }) | lv::unbatch;
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::latency<90_ms>>>(p);
  static_assert(decltype(app)::plan.regions == 3);
  return 0;
}
