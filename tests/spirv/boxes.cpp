// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression on a Vulkan device against `reference`: a few boxes that one invocation goes over, and many.

#include <levada/backend/spirv/detail/non_max_suppression.hpp>

#include "direct.hpp"

namespace spirv_boxes {

using namespace spirv_test;

/// Random boxes of which many overlap; equal scores and NaN among them.
template <std::size_t N, std::size_t Classes, class Op>
void check_boxes(const Op& op) {
  using item = std::tuple<lv::tensor<float, N, 4>, lv::tensor<float, Classes, N>>;
  const auto in = std::make_unique<item>();
  auto& [boxes, scores] = *in;
  std::mt19937 engine(N);
  std::uniform_real_distribution<float> any(0, 1);
  for (std::size_t i = 0; i < N; ++i) {
    const float y = any(engine), x = any(engine);
    boxes(i, 0) = y, boxes(i, 1) = x;
    boxes(i, 2) = y + 0.3f * any(engine) - 0.1f, boxes(i, 3) = x + 0.3f * any(engine) - 0.1f;
  }
  for (float& s : scores) s = std::round(any(engine) * 50) / 50;
  scores[N / 2] = lv::testing::not_a_number;
  const auto expected = lv::testing::by_one_kernel<lv::reference>(*in, {}, op);
  const auto computed = on_device(*in, {}, op);
  CHECK(expected->size() > 0);
  CHECK(*expected == *computed);
}

TEST_CASE("boxes of several classes, corners in any order, up to a limit") {
  LEVADA_NEEDS_DEVICE();
  check_boxes<20, 3>(lv::non_max_suppression_op<5>{{}, 0.2f});
  check_boxes<31, 1>(lv::non_max_suppression_op<100>{{}, 0.3f, 0.5f});
  check_boxes<300, 4>(lv::non_max_suppression_op<60>{{}, 0.1f, 0.25f});
}

TEST_CASE("boxes by their centre, and none that is good enough") {
  LEVADA_NEEDS_DEVICE();
  check_boxes<100, 2>(lv::non_max_suppression_op<10, lv::box_format::centre>{{}, 0.2f});
  using item = std::tuple<lv::tensor<float, 40, 4>, lv::tensor<float, 2, 40>>;
  const auto none = on_device(*lv::testing::random_input<item>(), {}, lv::non_max_suppression_op<3>{{}, 0.5f, 2.0f});
  CHECK(none->empty());
}

}  // namespace spirv_boxes
