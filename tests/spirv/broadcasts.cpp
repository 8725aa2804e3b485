// SPDX-License-Identifier: Apache-2.0
// Lambdas of several tensors that broadcast, and casts, on a Vulkan device against `reference`.

#include <cmath>

#include <levada/backend/spirv/detail/broadcast.hpp>
#include <levada/backend/spirv/detail/cast.hpp>

#include "direct.hpp"

namespace spirv_broadcasts {

using namespace spirv_test;
using lv::testing::infinity;
using lv::testing::not_a_number;

template <std::size_t... Dims>
using floats = lv::tensor<float, Dims...>;

template <class... T>
auto several() {
  return lv::testing::random_input<std::tuple<T...>>();
}

TEST_CASE("sums and products of tensors of the same and of other shapes") {
  LEVADA_NEEDS_DEVICE();
  const auto add = lv::nn::add.description;
  check_on_device(*several<floats<3, 5, 7>, floats<3, 5, 7>>(), 0, add);
  check_on_device(*several<floats<3, 5, 7>, floats<3, 1, 1>>(), 0, lv::nn::mul.description);
  check_on_device(*several<floats<4, 1>, floats<2, 1, 9>>(), 0, lv::nn::sub.description);
  check_on_device(*several<floats<>, floats<2, 3, 1, 4>>(), 0, add);
  check_on_device(*several<lv::tensor<std::int32_t, 6>, lv::tensor<std::int32_t, 2, 6>>(), 0, lv::nn::div.description);
  check_on_device(*several<floats<2, 33>, floats<33>>(), 0, add, lv::relu_op(), lv::flatten_op());
}

TEST_CASE("functions of two arguments: division, power, extremes with NaN among them") {
  LEVADA_NEEDS_DEVICE();
  auto in = several<floats<2, 65>, floats<65>>();
  check_on_device(*in, 0x1p-20, lv::nn::div.description);
  auto& [a, b] = *in;
  a[0] = not_a_number, b[1] = not_a_number, a[2] = infinity, b[3] = -infinity, a[4] = b[4];
  check_on_device(*in, 0, lv::nn::min.description);
  check_on_device(*in, 0, lv::nn::max.description);
  check_on_device(*in, 0, lv::nn::prelu.description);
  for (float& x : a) x = std::abs(x) + 0.5f;
  check_on_device(*in, 0x1p-20, lv::nn::pow.description);
}

TEST_CASE("comparisons give bool, and where takes it") {
  LEVADA_NEEDS_DEVICE();
  auto in = several<floats<3, 67>, floats<67>>();
  auto& [a, b] = *in;
  a[5] = b[5], a[6] = not_a_number, b[7] = not_a_number;
  check_on_device(*in, 0, lv::nn::equal.description);
  check_on_device(*in, 0, lv::nn::less.description);
  check_on_device(*in, 0, lv::nn::greater_or_equal.description);
  auto choice = std::make_unique<std::tuple<lv::tensor<bool, 5, 1>, floats<1, 33>, floats<5, 33>>>();
  lv::testing::fill_randomly(*choice);
  std::get<0>(*choice) = {true, false, true, true, false};
  check_on_device(*choice, 0, lv::nn::where.description);
  check_on_device(*several<lv::tensor<std::uint8_t, 7>, lv::tensor<std::uint8_t, 3, 1>>(), 0,
                  lv::nn::less_or_equal.description);
}

TEST_CASE("one kernel for a lambda with uniforms and three tensors") {
  LEVADA_NEEDS_DEVICE();
  const auto mix =
      lv::broadcast<"mix">([share = lv::uniform{0.25f}](auto a, auto b, auto c) { return a * share + b * c; });
  check_on_device(*several<floats<2, 3, 5>, floats<5>, floats<3, 1>>(), 0, mix.description);
}

TEST_CASE("casts saturate from float, wrap between integers, and keep what is no number out") {
  LEVADA_NEEDS_DEVICE();
  auto in = std::make_unique<floats<64>>();
  for (std::size_t i = 0; i < 64; ++i)
    (*in)[i] = (static_cast<float>(i) - 31.5f) * std::ldexp(1.0f, static_cast<int>(i));
  (*in)[0] = not_a_number, (*in)[1] = infinity, (*in)[2] = -infinity, (*in)[3] = 0, (*in)[4] = -0.5f;
  (*in)[5] = 255, (*in)[6] = 255.5f, (*in)[7] = -129;
  check_on_device(*in, 0, lv::cast_op<std::uint8_t>());
  check_on_device(*in, 0, lv::cast_op<std::int8_t>());
  check_on_device(*in, 0, lv::cast_op<std::int32_t>());
  check_on_device(*in, 0, lv::cast_op<std::uint32_t>());
  check_on_device(*in, 0, lv::cast_op<bool>());
  check_on_device<lv::tensor<std::int32_t, 70>>(0, lv::cast_op<std::int16_t>());
  check_on_device<lv::tensor<std::uint8_t, 70>>(0, lv::cast_op<float>(), lv::relu_op());
  check_on_device<lv::tensor<std::int16_t, 33>>(0, lv::cast_op<std::uint8_t>());
  check_on_device<lv::tensor<std::uint32_t, 33>>(0, lv::cast_op<float>());
  check_on_device<lv::tensor<bool, 4>>(0, lv::cast_op<float>());
}

}  // namespace spirv_broadcasts
