// SPDX-License-Identifier: Apache-2.0
// A deployment whose backends are chosen by costs, and one that a saved plan pins again.

#include <doctest/doctest.h>

#include <cmath>
#include <string_view>

#include <levada/backend/prepared.hpp>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/backend/reference/detail/transform.hpp>
#include <levada/backend/simd/detail/activation.hpp>
#include <levada/backend/simd/detail/transform.hpp>
#include <levada/interop/report.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/plan/detail/pinned.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>
#include <levada/run/simulated.hpp>

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

// ---- ops that differ in nothing but their name, or their source ----

using with_device = lv::target<lv::cpu<1>, lv::simulated<0>>;
using simd_alone = lv::backends<lv::simd>;

/// erf takes a hundred times what neg takes; the way there and back takes one.
constexpr lv::kernel_cost functions[] = {
    {"simd", "neg(float[6]) -> float[6], 6 FLOP", 1e-6},
    {"simd", "erf(float[6]) -> float[6], 6 FLOP", 2e-4},
    {"reference", "neg(float[6]) -> float[6], 6 FLOP", 2e-6},
    {"reference", "erf(float[6]) -> float[6], 6 FLOP", 1e-4},
};
constexpr lv::cost_table function_costs{.machine = "a made-up one", .kernels = functions};

template <class App>
constexpr auto backend_of(std::size_t unit) {
  return App::plan.backend[App::plan.unit[unit].backend].name;
}

TEST_CASE("costs tell element-wise ops of one shape apart") {
  constexpr auto line = lv::input<vector> | lv::nn::neg | lv::split_here | lv::nn::erf;
  using app = decltype(lv::deploy<box, both, lv::costs<function_costs>>(line));
  static_assert(backend_of<app>(0) == "simd" && backend_of<app>(1) == "reference");
}

/// A backend for a device that has a fast erf and nothing else, as a predicate over what the ops are called.
struct erf_only {
  static constexpr std::string_view name = "erf_only";
  static constexpr lv::device_kind device = lv::device_kind::simulated;
  static constexpr std::size_t longest_run = 1;
  static constexpr lv::roofline roofline{name, 1e12, 1e12, 0};
  static constexpr bool takes(lv::op_run run) { return run[0].kind == "erf"; }
  static int prepare(lv::op_run, lv::parameter_values) { return 0; }
  static void run(int, const void* const* inputs, void* output, std::byte*) {
    for (std::size_t i = 0; i < vector::elements; ++i)
      static_cast<float*>(output)[i] = std::erf(static_cast<const float*>(inputs[0])[i]);
  }
  template <class In, class... Ops>
  using kernel = lv::prepared_kernel<erf_only, In, Ops...>;
};

TEST_CASE("costs prefer a device for one element-wise op of several, which its predicate tells apart") {
  constexpr auto line =
      lv::input<vector> | lv::nn::neg | lv::split_here | lv::nn::erf | lv::split_here | lv::nn::tanh | lv::nn::neg;
  static constexpr lv::roofline lines[] = {{"simd", 1e9, 1e9, 0}};
  static constexpr lv::cost_table with_line{.machine = "a made-up one", .kernels = functions, .rooflines = lines};
  const auto app = lv::deploy<with_device, lv::backends<lv::simd, erf_only>, lv::costs<with_line>>(line);
  constexpr const auto& plan = decltype(app)::plan;
  static_assert(plan.segments == 3 && plan.segment[1].device.kind == lv::device_kind::simulated);
  static_assert(plan.segment[1].count == 1 && plan.graph.nodes[plan.unit[plan.segment[1].first].first].kind == "erf");
  vector item;
  for (std::size_t i = 0; i < item.size(); ++i) item.data()[i] = static_cast<float>(i) - 2.5f;
  const vector made = app(item);
  for (std::size_t i = 0; i < item.size(); ++i) CHECK(made[i] == doctest::Approx(-std::tanh(std::erf(-item[i]))));
}

}  // namespace run_costs
