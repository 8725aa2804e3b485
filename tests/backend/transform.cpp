// SPDX-License-Identifier: Apache-2.0
// Element-wise lambdas on `simd` against `reference`.

#include "backend/compare.hpp"

using namespace levada;
using namespace levada::testing;

TEST_CASE("a transform is the same function on vectors as on single values, tails included") {
  for_lengths([](auto n) {
    const auto scaled = transform_op([](auto px) { return to_float(px) / 255.0f; });
    check_agreement<tensor<std::uint8_t, n>>(0, scaled);
    check_agreement<tensor<std::int8_t, n>>(0, scaled);
    check_agreement<tensor<std::uint16_t, n>>(0, scaled);
    check_agreement<tensor<std::int16_t, 2, n>>(0, scaled);
    check_agreement<tensor<std::int32_t, n>>(0, scaled);
    check_agreement<tensor<bool, n>>(0, transform_op([](auto b) { return select(b != 0, 2.5f * to_float(b), 1.0f); }));
    check_agreement<tensor<half, n>>(epsilon, transform_op([](auto x) { return x * 2 + 0.25f; }));
    check_agreement<tensor<float, n>>(4 * epsilon, transform_op([](auto x) { return 1 / (1 + exp(-x)); }));
    check_agreement<tensor<float, n>>(0, transform_op([](auto x) { return max(min(x, 0.5f), -0.5f); }));
    check_agreement<tensor<float, n>>(0, transform_op([](auto x) { return select(x < 0.1f, abs(x), x - 1); }));
    check_agreement<tensor<double, n>>(0, transform_op([](auto x) { return sqrt(abs(x)); }));
    check_agreement<tensor<float, n>>(0, transform_op([](auto x) { return to_int(x * 100); }));
  });
  const float gain = 3.5f;
  check_agreement<tensor<float, 50>>(0, transform_op([gain](auto x) { return x * gain; }));
}

TEST_CASE("transforms in a row are one kernel, and give what they give one by one") {
  for_lengths([](auto n) {
    const auto scaled = transform_op([gain = 0.75f](auto x) { return to_float(x) * gain; });
    const auto clipped = transform_op([](auto x) { return min(x, 60.0f); });
    const auto whole = transform_op([](auto x) { return to_int(x); });
    check_agreement<tensor<std::uint8_t, n>>(0, scaled, clipped, whole, clipped);
    check_agreement<tensor<std::int32_t, n>>(0, clipped, scaled, clipped, clipped);
  });
}

TEST_CASE("in a transform narrow integers are int, so that 200 + 100 is 300") {
  tensor<std::uint8_t, 20> in;
  in.fill(200);
  const auto out = by_one_kernel<simd>(in, {}, transform_op([](auto x) { return x + 100; }));
  static_assert(std::same_as<decltype(out)::element_type, tensor<int, 20>>);
  for (int v : *out) CHECK(v == 300);
}

TEST_CASE("min, max and select say what they do with NaN") {
  tensor<float, 20> in;
  in.fill(not_a_number);
  const auto first = by_one_kernel<simd>(in, {}, transform_op([](auto x) { return max(x, 1.0f); }));
  const auto second = by_one_kernel<simd>(in, {}, transform_op([](auto x) { return max(1.0f, x); }));
  for (float v : *first) CHECK(std::isnan(v));
  for (float v : *second) CHECK(v == 1.0f);
}
