// SPDX-License-Identifier: Apache-2.0
// The ops of quantized numbers: `reference` against numbers worked out by hand, and `simd` against `reference`, integer
// by integer.

#include "backend/compare.hpp"

#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/qlinear_add.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/qlinear_depthwise.hpp>
#include <levada/backend/simd/detail/quantize_linear.hpp>
#include <levada/graph/parameter_map.hpp>

using namespace levada;
using namespace levada::testing;
using std::int32_t;
using std::int8_t;
using std::uint8_t;

namespace {

/// Scales with which the results of random weights in -1 ... 1 spread over the integers, and over their borders.
constexpr qlinear_numbers spread_numbers(float products) { return {.x = {0.02f, 31}, .y = {0.001f * products, 117}}; }

/// The run as one kernel of `simd` and op by op of `reference` gives the same.
template <class In, class... Ops>
void check_equal(const In& in, const Ops&... ops) {
  random_parameters parameters;
  parameters.add<In, Ops...>();
  const auto expected = by_single_kernels<reference>(in, parameters.all(), ops...);
  const auto computed = by_one_kernel<simd>(in, parameters.all(), ops...);
  check_difference(largest_difference(*expected, *computed), 0, __PRETTY_FUNCTION__);
}
template <class In, class... Ops>
void check_equal(const Ops&... ops) {
  check_equal(*random_tensor<In>(), ops...);
}

/// Convolutions whose int8 weights are all of the same size, of inputs at both ends of their range.
template <class In, class... Options>
void check_largest() {
  using op = qlinear_conv2d_op<11, float, int8_t, Options..., no_bias>;
  using value = typename In::value_type;
  constexpr std::size_t weights = op::template parameters<In>[0].extents.elements();
  const auto in = random_tensor<In>();
  for (value& x : *in) x = x < 64 ? std::numeric_limits<value>::lowest() : std::numeric_limits<value>::max();
  tensor<float, 11> scale;
  std::fill(scale.begin(), scale.end(), 1.0f);
  for (const int largest : {64, 65, 127}) {
    const auto weight = random_tensor<tensor<int8_t, weights>>();
    for (int8_t& w : *weight) w = static_cast<int8_t>(w % 3 == 0 ? -largest : largest);
    const void* const parameters[] = {weight->data(), scale.data()};
    const op conv{{}, {.x = {1, std::is_signed_v<value> ? -128 : 0}}};
    const auto expected = by_single_kernels<reference>(*in, parameters, conv);
    check_difference(largest_difference(*expected, *by_one_kernel<simd>(*in, parameters, conv)), 0,
                     __PRETTY_FUNCTION__);
  }
}

template <class To>
using conv3 = qlinear_conv2d_op<20, To, float, levada::size<3>, padding<1>>;

}  // namespace

TEST_CASE("numbers become the nearest integers, halves to even, saturated, and NaN the smallest") {
  const tensor<float, 10> in{{0, 0.25f, 0.75f, -0.25f, 1.3f, 1000, -1000, not_a_number, infinity, -infinity}};
  const auto bytes = by_one_kernel<reference>(in, {}, quantize_linear_op<uint8_t>{{}, {0.5f, 100}});
  CHECK(*bytes == tensor<uint8_t, 10>{{100, 100, 102, 100, 103, 255, 0, 0, 255, 0}});
  const auto chars = by_one_kernel<reference>(in, {}, quantize_linear_op<int8_t>{{}, {0.5f, -100}});
  CHECK(*chars == tensor<int8_t, 10>{{-100, -100, -98, -100, -97, 127, -128, -128, 127, -128}});

  const auto back = by_one_kernel<reference>(*chars, {}, dequantize_linear_op{{}, {0.5f, -100}});
  CHECK((*back)[2] == 1.0f);
  CHECK((*back)[5] == 113.5f);
  const auto wide = by_one_kernel<simd>(tensor<int32_t, 2>{{1 << 24, -7}}, {}, dequantize_linear_op{{}, {0.25f, 0}});
  CHECK(*wide == tensor<float, 2>{{0x1p22f, -1.75f}});
}

TEST_CASE("simd quantizes any length as reference does") {
  for_lengths([](auto n) {
    auto in = random_tensor<tensor<float, n>>();
    for (float& x : *in) x *= 2;
    (*in)[n / 2] = not_a_number;
    check_equal(*in, quantize_linear_op<uint8_t>{{}, {0.01f, 100}});
    check_equal(*in, quantize_linear_op<int8_t>{{}, {1.0f / 3, -5}});
    check_equal<tensor<uint8_t, n>>(dequantize_linear_op{{}, {0.01f, 100}});
    check_equal<tensor<int8_t, n>>(dequantize_linear_op{{}, {1.0f / 3, -128}});
    check_equal<tensor<uint8_t, n>>(transform_op([](auto x) { return to_float(x) / 255.0f; }),
                                    quantize_linear_op<uint8_t>{{}, {0.004f, 3}});
  });
}

TEST_CASE("simd adds bytes of any length as reference does") {
  // (-10 + 4) 0.5 + 60 0.25 = 12, in steps of 2; (0 - 10) 0.5 + 0 is below zero
  const std::tuple<tensor<uint8_t, 2>, tensor<int8_t, 2>> in{{{4, 0}}, {{50, -10}}};
  const qlinear_add_op<uint8_t> op{{}, {0.5f, 10}, {0.25f, -10}, {2, 100}};
  CHECK(*by_one_kernel<reference>(in, {}, op) == tensor<uint8_t, 2>{{106, 98}});
  for_lengths([](auto n) {
    const std::tuple<tensor<uint8_t, n>, tensor<int8_t, n>> numbers{*random_tensor<tensor<uint8_t, n>>(),
                                                                    *random_tensor<tensor<int8_t, n>>()};
    check_equal(numbers, qlinear_add_op<uint8_t>{{}, {0.011f, 128}, {1.0f / 3, -3}, {0.07f, 30}});
    check_equal(numbers, qlinear_add_op<int8_t>{{}, {1.0f / 7, 0}, {1.0f / 3, 5}, {0.3f, -50}, true});
  });
}

TEST_CASE("weights of float become int8, each output with a scale of its own, and a large bias is kept") {
  // Two outputs: weights 1, -0.5 with bias 0.3, and no weights with bias 2.
  const tensor<float, 2, 2> weight{{1, -0.5f, 0, 0}};
  const tensor<float, 2> bias{{0.3f, 2}};
  const void* const parameters[] = {weight.data(), bias.data()};
  const qlinear_dense_op<2, float, float> op{{.x = {0.1f, 10}}};
  const tensor<uint8_t, 2> in{{60, 30}};  // 5 and 2
  const auto y = by_one_kernel<reference>(in, parameters, op);
  CHECK((*y)[0] == doctest::Approx(5 - 1 + 0.3).epsilon(0.01));
  CHECK((*y)[1] == doctest::Approx(2));
  CHECK(*y == *by_one_kernel<simd>(in, parameters, op));
}

TEST_CASE("integers and their scales can be given, too") {
  const tensor<int8_t, 2, 3> weight{{1, 2, 3, -128, 127, 0}};
  const tensor<float, 2> scale{{0.5f, 0.25f}};
  const tensor<int32_t, 2> bias{{4, -1000}};
  const void* const parameters[] = {weight.data(), scale.data(), bias.data()};
  const tensor<uint8_t, 3> in{{2, 3, 5}};  // 0, 1 and 3 behind the zero point
  const qlinear_dense_op<2, int8_t, int8_t> op{{.x = {0.5f, 2}, .y = {2, -3}}};
  // (0 + 2 + 9 + 4) * 0.25 / 2 = 1.875; (127 - 1000) * 0.125 / 2 = -54.6
  CHECK(*by_one_kernel<reference>(in, parameters, op) == tensor<int8_t, 2>{{-1, -58}});
  CHECK(*by_one_kernel<simd>(in, parameters, op) == tensor<int8_t, 2>{{-1, -58}});

  qlinear_dense_op<2, int8_t, int8_t> above = op;
  above.numbers.relu = true;
  CHECK(*by_one_kernel<simd>(in, parameters, above) == tensor<int8_t, 2>{{-1, -3}});
}

TEST_CASE("a dense layer of integers is the same on simd, whatever the lengths") {
  for_lengths([](auto n) {
    const qlinear_numbers numbers = spread_numbers(n);
    check_equal<tensor<uint8_t, n>>(qlinear_dense_op<3, uint8_t, float>{numbers});
    check_equal<tensor<int8_t, n>>(qlinear_dense_op<17, int8_t, float, no_bias>{numbers});
    check_equal<tensor<uint8_t, 2, n>>(flatten_op(), qlinear_dense_op<10, float, float>{numbers});
  });
  check_equal<tensor<uint8_t, 300>>(qlinear_dense_op<37, uint8_t, float>{spread_numbers(300)});
}

TEST_CASE("a convolution of integers is the same on simd: types, strides, padding, dilation, widths") {
  const qlinear_numbers numbers = spread_numbers(60);
  check_equal<tensor<uint8_t, 3, 9, 9>>(conv3<uint8_t>{{}, numbers});
  check_equal<tensor<int8_t, 5, 7, 18>>(conv3<int8_t>{{}, numbers});
  check_equal<tensor<uint8_t, 8, 6, 6>>(conv3<float>{{}, numbers});
  check_equal<tensor<uint8_t, 2, 11, 40>>(
      qlinear_conv2d_op<3, uint8_t, float, levada::size<5, 3>, stride<2>, padding<2, 0, 1, 3>>{{}, numbers});
  check_equal<tensor<uint8_t, 1, 13, 21>>(
      qlinear_conv2d_op<2, uint8_t, float, levada::size<3>, dilation<2, 3>, padding<1>, no_bias>{{}, numbers});
  check_equal<tensor<int8_t, 9, 5, 5>>(qlinear_conv2d_op<33, uint8_t, float, levada::size<1>>{{}, numbers});
  check_equal<tensor<uint8_t, 4, 6, 6>>(
      qlinear_conv2d_op<6, uint8_t, float, levada::size<3>, groups<2>>{{}, numbers});  // by its definition
}

TEST_CASE("bytes whose products may not fit into int16 are multiplied otherwise, and give the same") {
  constexpr auto quad = [](int a, int b, int c, int d) {
    const int8_t bytes[] = {static_cast<int8_t>(a), static_cast<int8_t>(b), static_cast<int8_t>(c),
                            static_cast<int8_t>(d)};
    return detail::quad_of(bytes);
  };
  static_assert(detail::pairs_fit(quad(64, 64, -64, -64)) && detail::pairs_fit(quad(127, -127, -128, 127)));
  static_assert(detail::pairs_fit(quad(0, 0, 1, 127)) && detail::pairs_fit(quad(-128, 0, 0, -128)));
  static_assert(!detail::pairs_fit(quad(65, 64, 0, 0)) && !detail::pairs_fit(quad(0, 0, 2, 127)));
  static_assert(!detail::pairs_fit(quad(-64, -65, 0, 0)) && !detail::pairs_fit(quad(0, 0, -1, -128)));
  // All weights as far as two neighbours may go, and one step farther; bytes of both ends.
  check_largest<tensor<uint8_t, 9, 5, 6>, levada::size<1>>();
  check_largest<tensor<int8_t, 8, 7, 9>, levada::size<3>, padding<1>>();
  check_largest<tensor<uint8_t, 1, 11, 23>, levada::size<3>, stride<2>>();
  check_largest<tensor<int8_t, 3, 12, 12>, levada::size<5, 7>, padding<2>>();
  check_largest<tensor<uint8_t, 11, 9, 37>, levada::size<3>, padding<1>, groups<11>>();
  check_largest<tensor<int8_t, 11, 10, 19>, levada::size<5>, stride<2>, padding<2>, groups<11>>();
  check_largest<tensor<int8_t, 11, 8, 21>, levada::size<3>, dilation<2>, groups<11>>();
}

TEST_CASE("matrix registers multiply convolutions of many channels, where the machine has them") {
  const qlinear_numbers numbers = spread_numbers(300);
  const auto check = [&]<class In, class Op>(std::type_identity<In>, const Op&) {
    static_assert(!isa::has_matrices<isa::native> ||
                  simd::kernel<In, Op>::method == std::string_view("matrix registers"));
    check_equal<In>(Op{{}, numbers});
  };
  // Blocks of filters and of pixels, whole and not; rows in several groups; channels in several parts.
  check(std::type_identity<tensor<uint8_t, 64, 14, 14>>(),
        qlinear_conv2d_op<40, uint8_t, float, levada::size<3>, padding<1>>());
  check(std::type_identity<tensor<int8_t, 24, 31, 33>>(),
        qlinear_conv2d_op<70, int8_t, float, levada::size<3, 2>, padding<0, 2, 1, 0>, no_bias>());
  check(std::type_identity<tensor<uint8_t, 136, 7, 7>>(),
        qlinear_conv2d_op<33, float, float, levada::size<3>, padding<1>>());
  // The picture where it is.
  check(std::type_identity<tensor<uint8_t, 62, 9, 17>>(), qlinear_conv2d_op<16, uint8_t, float, levada::size<1>>());
  // Phases: of which some are not read, and where the padding begins in some.
  check(std::type_identity<tensor<uint8_t, 32, 28, 30>>(),
        qlinear_conv2d_op<32, uint8_t, float, levada::size<1>, stride<2>>());
  check(std::type_identity<tensor<int8_t, 32, 15, 21>>(),
        qlinear_conv2d_op<18, int8_t, float, levada::size<3>, stride<2>, padding<1>>());
  check(std::type_identity<tensor<uint8_t, 32, 17, 26>>(),
        qlinear_conv2d_op<48, uint8_t, float, levada::size<4, 3>, stride<3, 2>, dilation<1, 3>, padding<3, 1, 0, 4>>());
  // Quads of columns.
  check(std::type_identity<tensor<uint8_t, 3, 34, 36>>(),
        qlinear_conv2d_op<32, uint8_t, float, levada::size<7>, stride<2>, padding<3>>());
}

TEST_CASE("filters of one channel each are the same on simd: types, strides, padding, dilation, widths") {
  qlinear_numbers numbers = spread_numbers(9);
  check_equal<tensor<uint8_t, 5, 9, 9>>(
      qlinear_conv2d_op<5, uint8_t, float, levada::size<3>, padding<1>, groups<5>>{{}, numbers});
  check_equal<tensor<int8_t, 3, 7, 33>>(
      qlinear_conv2d_op<3, int8_t, float, levada::size<3>, padding<1>, groups<3>, stride<2>>{{}, numbers});
  check_equal<tensor<uint8_t, 2, 8, 70>>(
      qlinear_conv2d_op<2, float, float, levada::size<5>, padding<2>, groups<2>, stride<2>, no_bias>{{}, numbers});
  numbers.relu = true;
  check_equal<tensor<int8_t, 4, 11, 17>>(
      qlinear_conv2d_op<8, uint8_t, float, levada::size<5, 3>, padding<2, 0, 1, 3>, groups<4>>{{}, numbers});
  check_equal<tensor<uint8_t, 2, 13, 40>>(
      qlinear_conv2d_op<2, uint8_t, float, levada::size<2, 7>, padding<4, 3>, groups<2>, stride<2>, dilation<5, 1>>{
          {}, numbers});
  check_equal<tensor<uint8_t, 3, 13, 21>>(
      qlinear_conv2d_op<3, uint8_t, float, levada::size<3>, dilation<3, 2>, padding<4>, groups<3>, stride<3, 1>>{
          {}, numbers});
  check_equal<tensor<uint8_t, 7, 1, 1>>(
      qlinear_conv2d_op<7, int8_t, float, levada::size<3>, padding<1>, groups<7>>{{}, numbers});
  check_equal<tensor<uint8_t, 2, 3, 64>>(
      qlinear_conv2d_op<6, uint8_t, float, levada::size<1, 4>, groups<2>, stride<1, 4>>{{}, numbers});
}

TEST_CASE("a pool and a change of shape are computed in the same kernel") {
  qlinear_numbers numbers = spread_numbers(40);
  numbers.relu = true;
  check_equal<tensor<uint8_t, 1, 28, 28>>(
      qlinear_conv2d_op<8, uint8_t, float, levada::size<5>, padding<2>>{{}, numbers}, max_pool2d_op<levada::size<2>>());
  check_equal<tensor<uint8_t, 8, 14, 14>>(
      qlinear_conv2d_op<16, uint8_t, float, levada::size<5>, padding<2>>{{}, numbers}, max_pool2d_op<levada::size<3>>(),
      flatten_op());
  check_equal<tensor<int8_t, 6, 9, 9>>(conv3<float>{{}, numbers}, max_pool2d_op<levada::size<2>>());
}

TEST_CASE("max pools of integers") {
  check_equal<tensor<uint8_t, 2, 9, 30>>(max_pool2d_op<levada::size<2>>());
  check_equal<tensor<int8_t, 3, 8, 8>>(max_pool2d_op<levada::size<3>, stride<2>, padding<1>>());
  check_equal<tensor<int8_t, 1, 5, 70>>(max_pool2d_op<levada::size<2>, stride<1>, dilation<2>>());
}
