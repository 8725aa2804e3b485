// SPDX-License-Identifier: Apache-2.0
// error: pace_cannot_be_checked_behind_a_rate_that_depends_on_its_items
// place: "33 ms"
// place: behind_rate<
// place: "window"
//
// A pace before windows over chunks of any length.

#include <vector>

#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

constexpr lv::kernel_cost rows[] = {{"callable", "loudness(float[40]) -> 4 bytes", 7e-3}};
constexpr lv::cost_table board{.machine = "a camera board", .kernels = rows, .date = "2026-11-25"};

#ifdef LEVADA_CORRECT
using chunk = lv::tensor<float, 20>;
#else
using chunk = std::vector<float>;
#endif

int main() {
  auto p = lv::input<chunk, lv::every<33_ms>> | lv::window<40, 20> |
           lv::stage<"loudness">([](const lv::tensor<float, 40>& w) { return static_cast<int>(w[0]); });
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<board>>(p);
  static_assert(decltype(app)::plan.regions == 2);
  return 0;
}
