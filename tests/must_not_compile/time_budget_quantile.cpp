// SPDX-License-Identifier: Apache-2.0
// error: costs_have_no_such_quantile_measure_them_again
// place: "latency 10 ms at p95"
// place: "detect"
//
// A budget by an upper quantile that the costs of a stage do not have.

#include <levada/levada.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

#ifdef LEVADA_CORRECT
constexpr lv::kernel_cost rows[] = {{"callable", "detect(4 bytes) -> 4 bytes", 7e-3, 1e-4, 8e-3}};
#else
constexpr lv::kernel_cost rows[] = {{"callable", "detect(4 bytes) -> 4 bytes", 7e-3, 1e-4}};
#endif
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

int main() {
  auto p = lv::input<int> | lv::stage<"detect">([](const int& i) { return 2 * i; });
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>, lv::budget<lv::latency<10_ms, lv::quantile::p95>>>(p);
  return app(1);
}
