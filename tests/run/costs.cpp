// SPDX-License-Identifier: Apache-2.0
// A deployment whose backends are chosen by costs, and one that a saved plan pins again.

#include <doctest/doctest.h>

#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/nn/activation.hpp>
#include <levada/plan/detail/pinned.hpp>
#include <levada/plan/partition_by_cost.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/measure/report.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace run_costs {

namespace lv = levada;

using box = lv::target<lv::cpu<2>>;
using vector = lv::tensor<float, 6>;
using both = lv::backends<lv::simd, lv::reference>;

constexpr lv::kernel_cost kernels[] = {
    {"simd", "relu(float[6]) -> float[6], 6 FLOP", 2e-6},
    {"simd", "softmax(float[6]) -> float[6], 24 FLOP", 1e-6},
    {"reference", "relu(float[6]) -> float[6], 6 FLOP", 1e-6},
    {"reference", "softmax(float[6]) -> float[6], 24 FLOP", 2e-6},
};
constexpr lv::cost_table table{.machine = "a made-up one", .kernels = kernels};

constexpr auto pipeline = lv::input<vector> | lv::nn::relu | lv::nn::softmax;

TEST_CASE("costs choose the backend of each op, and the result is the same") {
  const auto plain = lv::deploy<box, both>(pipeline);
  const auto chosen = lv::deploy<box, both, lv::costs<table>>(pipeline);
  using plain_app = decltype(plain);
  using chosen_app = decltype(chosen);
  static_assert(plain_app::plan.unit[0].backend == 0 && plain_app::plan.unit[1].backend == 0, "simd is named first");
  static_assert(chosen_app::plan.unit[0].backend == 1 && chosen_app::plan.unit[1].backend == 0);

  vector item;
  for (std::size_t i = 0; i < item.size(); ++i) item.data()[i] = static_cast<float>(i) - 2.5f;
  const vector a = plain(item), b = chosen(item);
  for (std::size_t i = 0; i < item.size(); ++i) CHECK(a.data()[i] == doctest::Approx(b.data()[i]));

  using saved_app = decltype(lv::deploy<box, both, lv::pinned<lv::saved<chosen_app::plan>()>>(pipeline));
  static_assert(saved_app::plan.unit[0].backend == 1 && saved_app::plan.unit[1].backend == 0, "without the table");

  int count = 0;
  for (auto&& r : chosen.stream(std::vector<vector>(20, item))) count += r.value()[5] == b[5];
  CHECK(count == 20);
}

}  // namespace run_costs
