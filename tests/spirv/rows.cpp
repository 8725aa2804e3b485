// SPDX-License-Identifier: Apache-2.0
// Reductions, norms, softmax and the search for the largest on a Vulkan device against `reference`: rows that one
// invocation goes over, and longer ones that 64 share.

#include <levada/backend/spirv/detail/norm.hpp>
#include <levada/backend/spirv/detail/reduce.hpp>
#include <levada/backend/spirv/detail/softmax.hpp>
#include <levada/backend/spirv/detail/top_k.hpp>

#include "direct.hpp"

namespace spirv_rows {

using namespace spirv_test;
using lv::testing::epsilon;
using lv::testing::infinity;
using lv::testing::not_a_number;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;

template <lv::reduction How, std::ptrdiff_t... Axes>
using reduce = lv::reduce_op<How, lv::reduced_axes::keep, Axes...>;

using enum lv::reduction;

/// A random variance could be negative.
template <class In>
void check_batch_norm() {
  lv::testing::random_parameters parameters;
  parameters.add<In, lv::batch_norm_op>();
  auto* const variance = static_cast<float*>(const_cast<void*>(parameters.all()[3]));
  for (std::size_t c = 0; c < In::extents[0]; ++c) variance[c] = 1 + variance[c] * variance[c];
  check_on_device(*lv::testing::random_input<In>(), 8 * epsilon, parameters.all(), lv::batch_norm_op{});
}

TEST_CASE("sums in the order of the elements, along any axes") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<floats<5, 3, 37>>(0, reduce<sum, -1>());
  check_on_device<floats<5, 3, 37>>(0, reduce<sum, 0>());
  check_on_device<floats<5, 3, 7>>(0, reduce<sum, 0, 2>());
  check_on_device<floats<2, 3, 4, 5>>(4 * division_error(), lv::reduce_op<l2, lv::reduced_axes::drop, 1, 3>());
  check_on_device<floats<33>>(division_error(), reduce<mean>(), lv::relu_op());
}

TEST_CASE("long rows, and the extremes with NaN among them") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<floats<3, 1000>>(300 * epsilon, reduce<sum, -1>());
  check_on_device<floats<7, 16, 16>>(100 * epsilon, reduce<mean, -2, -1>());
  auto in = lv::testing::random_input<floats<4, 300>>();
  (*in)[2] = infinity, (*in)[299] = -infinity, (*in)[700] = not_a_number, (*in)[901] = infinity;
  check_on_device(*in, 0, reduce<max, 1>());
  check_on_device(*in, 0, reduce<min, 1>());
  check_on_device(*in, 0, reduce<max, 0>());
}

TEST_CASE("softmax and log_softmax of short and long rows") {
  LEVADA_NEEDS_DEVICE();
  auto in = lv::testing::random_input<floats<5, 321>>();
  for (float& x : *in) x *= 50;
  (*in)[400] = not_a_number, (*in)[700] = -infinity, (*in)[1000] = infinity;
  check_on_device(*in, 16 * epsilon, lv::softmax_op());
  check_on_device(*in, 1e-4, lv::log_softmax_op());
  check_on_device<floats<2, 3, 11>>(8 * epsilon, lv::log_softmax_op());
}

TEST_CASE("norms of rows and of channels, with what fuses behind them") {
  LEVADA_NEEDS_DEVICE();
  check_on_device<floats<3, 5, 7>>(20 * epsilon, lv::instance_norm_op());
  check_on_device<floats<3, 17, 19>>(20 * epsilon, lv::instance_norm_op{0.1}, lv::relu_op());
  check_on_device<floats<3, 37>>(20 * epsilon, lv::layer_norm_op<>());
  check_on_device<floats<6, 200>>(20 * epsilon, lv::layer_norm_op<>());
  check_on_device<floats<3, 5, 4>>(20 * epsilon, lv::layer_norm_op<1>());
  check_batch_norm<floats<3, 5, 19>>();
  check_batch_norm<floats<7>>();
  check_on_device<floats<4, 31>>(0, lv::bias_op(), lv::relu_op());
  const lv::normalize_op<3> normalize({0.4f, 0.5f, 0.6f}, {0.2f, 0.3f, 0.25f}, 1 / 255.0f);
  check_on_device<lv::tensor<std::uint8_t, 3, 9, 5>>(16 * epsilon, normalize);
  check_on_device<floats<3, 9, 5>>(16 * epsilon, normalize);
}

TEST_CASE("the largest of each row, the first of equals, NaN last") {
  LEVADA_NEEDS_DEVICE();
  auto in = lv::testing::random_input<floats<5, 300>>();
  (*in)[70] = (*in)[250] = (*in)[140] = 2;
  for (std::size_t i = 0; i < 300; ++i) (*in)[300 + i] = i == 130 ? -5 : not_a_number, (*in)[600 + i] = not_a_number;
  (*in)[900] = not_a_number;
  check_on_device(*in, 0, lv::argmax_op());
  check_on_device(*in, 0, lv::top_k_op<5>());
  check_on_device<lv::tensor<std::uint8_t, 3, 4, 50>>(0, lv::argmax_op());
  check_on_device<lv::tensor<std::int32_t, 31>>(0, lv::top_k_op<31>());
  check_on_device<lv::tensor<std::uint8_t, 3, 21>>(0, lv::top_k_op<7>());
}

}  // namespace spirv_rows
