// SPDX-License-Identifier: Apache-2.0
// `reference` and `simd` against numbers that PyTorch 1.13 computed (`python3 tests/backend/pytorch_cases.py` prints
// them) and against values worked out by hand where the definition is simple.

#include <array>

#include "backend/compare.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

/// The same small multiples of 1/8 that pytorch_cases.py makes.
template <std::size_t... Dims>
tensor<float, Dims...> made(std::size_t seed) {
  tensor<float, Dims...> t;
  for (std::size_t i = 0; i < t.size(); ++i)
    t[i] = static_cast<float>(static_cast<int>((i * 7 + seed * 5 + i / 3) % 23) - 11) / 8;
  return t;
}

template <class Out, std::size_t N>
void check_values(const Out& computed, const std::array<float, N>& expected, float tolerance) {
  REQUIRE(computed.size() == N);
  for (std::size_t i = 0; i < N; ++i) {
    CAPTURE(i);
    CHECK(std::abs(static_cast<float>(computed[i]) - expected[i]) <= tolerance);
  }
}

/// Both backends, each with the parameters given.
template <class In, class Op, std::size_t N, class... T>
void check_both(const In& in, const Op& op, const std::array<float, N>& expected, float tolerance,
                const T&... parameters) {
  const void* pointers[] = {parameters.data()..., nullptr};
  const auto all = std::span<const void* const>(pointers).first(sizeof...(T));
  check_values(*by_one_kernel<reference>(in, all, op), expected, tolerance);
  if constexpr (op_kernel<simd, In, Op>) check_values(*by_one_kernel<simd>(in, all, op), expected, tolerance);
}

}  // namespace

TEST_CASE("conv2d gives PyTorch's numbers exactly, padded, strided, dilated and in groups") {
  const auto in = made<2, 5, 6>(1);
  check_both(
      in, conv2d_op<3, size<3>, padding<1>>(),
      std::array<float, 90>{
          -3.15625f,  -1.515625f, 4.125f,     -0.734375f, -1.359375f, 1.03125f,  -2.984375f, -3.796875f, 4.796875f,
          0.15625f,   -3.34375f,  0.5f,       0.5f,       -4.6875f,   6.421875f, 4.65625f,   -3.875f,    -0.9375f,
          4.703125f,  -4.859375f, 0.5f,       5.921875f,  -5.125f,    -0.9375f,  6.328125f,  -3.359375f, -3.890625f,
          7.359375f,  -3.390625f, -0.734375f, 0.140625f,  5.34375f,   0.21875f,  -1.390625f, 3.75f,      5.578125f,
          -0.046875f, 4.6875f,    5.578125f,  -1.375f,    3.59375f,   4.234375f, -0.0625f,   0.703125f,  4.109375f,
          0.03125f,   -0.03125f,  2.171875f,  0.640625f,  -2.5625f,   3.359375f, 0.359375f,  -2.21875f,  3.703125f,
          0.828125f,  -2.328125f, 3.265625f,  3.390625f,  -1.953125f, 2.203125f, 0.203125f,  2.140625f,  -3.328125f,
          0.828125f,  -1.5625f,   -1.015625f, 0.015625f,  -0.125f,    -2.625f,   1.40625f,   -3.484375f, 0.0625f,
          -2.0625f,   -0.375f,    -0.359375f, -1.71875f,  -3.375f,    2.765625f, -3.421875f, 0.09375f,   2.625f,
          -3.765625f, 0.328125f,  2.953125f,  -3.234375f, 2.296875f,  1.796875f, -4.171875f, 2.359375f,  1.546875f},
      0, made<3, 2, 3, 3>(2), made<3>(3));
  check_both(
      in, conv2d_op<2, size<2, 3>, stride<2, 1>, padding<0, 2>, no_bias>(),
      std::array<float, 32>{4.296875f,  -3.765625f, -4.609375f, 6.328125f,  -0.421875f, -3.65625f, 0.46875f,   0.1875f,
                            0.34375f,   4.453125f,  -3.3125f,   -0.640625f, 4.828125f,  -3.4375f,  -1.109375f, 0.8125f,
                            -0.609375f, -2.390625f, 1.296875f,  1.703125f,  -1.203125f, 0.84375f,  0.28125f,   -0.0625f,
                            0.390625f,  0.640625f,  -1.59375f,  -1.1875f,   1.296875f,  -1.6875f,  -0.734375f, 1.5625f},
      0, made<2, 2, 2, 3>(2));
  check_both(
      in, conv2d_op<2, size<2>, dilation<2>>(),
      std::array<float, 24>{3.15625f,  -1.4375f,  2.28125f,   3.34375f,  -0.0625f,  -1.78125f, -1.296875f, 0.125f,
                            0.3125f,   0.390625f, -0.921875f, 0.5f,      0.375f,    2.234375f, 0.46875f,   0.0625f,
                            0.828125f, 5.203125f, 0.5625f,    0.515625f, 0.203125f, 2.78125f,  -0.0625f,   -0.109375f},
      0, made<2, 2, 2, 2>(2), made<2>(3));
  check_both(in, conv2d_op<4, size<3>, groups<2>>(),
             std::array<float, 48>{-0.453125f, 2.875f,     -2.390625f, -0.4375f,   -1.5f,      6.859375f,  -0.921875f,
                                   -1.484375f, -2.1875f,   2.9375f,    0.90625f,   -2.171875f, 5.875f,     -1.4375f,
                                   -1.53125f,  5.59375f,   3.15625f,   0.875f,     -1.734375f, 2.875f,     0.796875f,
                                   3.546875f,  -1.578125f, 0.515625f,  -3.640625f, 1.765625f,  1.453125f,  -3.859375f,
                                   -3.71875f,  -0.828125f, 4.25f,      -3.578125f, -3.4375f,   -3.0625f,   4.53125f,
                                   -3.296875f, -1.234375f, 6.828125f,  -0.171875f, -2.46875f,  -2.265625f, 3.28125f,
                                   1.671875f,  -3.140625f, -2.9375f,   0.09375f,   2.078125f,  -2.734375f},
             0, made<4, 1, 3, 3>(2), made<4>(3));
}

TEST_CASE("pools give PyTorch's numbers") {
  const auto in = made<2, 5, 6>(1);
  check_both(in, max_pool2d_op<size<3>, stride<2>, padding<1>>(),
             std::array<float, 18>{0.125f, 1.0f, 0.875f, 1.375f, 1.25f, 1.25f, 1.375f, 1.25f, 1.25f, 0.875f, 0.75f,
                                   1.375f, 1.25f, 1.25f, 1.375f, 1.0f, 1.0f, 0.875f},
             0);
  check_both(in, avg_pool2d_op<size<3>, stride<2>, padding<1>>(),
             std::array<float, 18>{-0.4375f, -0.0416666679f, -0.125f, -0.333333343f, -0.0972222239f, -0.180555552f,
                                   0.25f, 0.166666672f, 0.0833333358f, -0.25f, -0.333333343f, 0.0625f, 0.333333343f,
                                   -0.0694444478f, 0.166666672f, 0.4375f, -0.125f, -0.208333328f},
             1e-7f);
}

TEST_CASE("dense, softmax and relu give PyTorch's numbers") {
  check_both(made<12>(1), dense_op<4>(), std::array<float, 4>{1.046875f, 7.6875f, 2.828125f, -3.34375f}, 0,
             made<4, 12>(2), made<4>(3));
  check_both(made<2, 5>(1), softmax_op(),
             std::array<float, 10>{0.082284376f, 0.197389945f, 0.473513871f, 0.0726157054f, 0.17419602f, 0.393845528f,
                                   0.0603981689f, 0.144887671f, 0.347567469f, 0.0533011965f},
             1e-7f);
  check_both(made<7>(1), relu_op(), std::array<float, 7>{0.0f, 0.125f, 1.0f, 0.0f, 0.0f, 0.875f, 0.0f}, 0);
}

TEST_CASE("top_k gives PyTorch's values and indices") {
  const tensor<float, 6> in{0.5f, -1.0f, 4.0f, 2.5f, 3.0f, -7.0f};
  const auto [values, indices] = *by_one_kernel<reference>(in, {}, top_k_op<3>());
  check_values(values, std::array<float, 3>{4.0f, 3.0f, 2.5f}, 0);
  check_values(indices, std::array<float, 3>{2.0f, 4.0f, 3.0f}, 0);
}

TEST_CASE("resize gives PyTorch's numbers, which are ONNX's half_pixel") {
  // The first plane of what pytorch_cases.py calls image.
  const auto in = made<1, 5, 6>(1);
  check_both(
      in, resize_op<7, 8, resize_mode::bilinear, layout::chw>(),
      std::array<float, 56>{
          -0.75f,        -0.203125f,     0.453125f,     0.765625f,     -0.640625f,    -0.328125f,     0.328125f,
          0.875f,        -0.892857134f,  -0.345982134f, 0.310267866f,  0.622767806f,  -0.783482134f,  -0.470982134f,
          0.185267851f,  0.732142806f,   -1.07142854f,  -0.524553597f, 0.131696418f,  0.444196403f,   -0.962053537f,
          -0.649553597f, 0.00669642072f, 0.553571403f,  -1.24999988f,  -0.70312494f,  -0.0468750112f, 0.265625f,
          -1.14062488f,  -0.82812494f,   -0.171875f,    0.37499997f,   0.625000179f,  -0.11160709f,   -0.225446448f,
          0.34375f,      0.477678716f,   -0.23660709f,  -0.350446463f, 0.196428552f,  1.26785707f,    0.0178571194f,
          -0.404017866f, 0.267857105f,   1.01785707f,   -0.107142881f, -0.529017866f, 0.0178571176f,  1.125f,
          -0.124999985f, -0.546875f,     0.125f,        0.875f,        -0.249999985f, -0.671875f,     -0.125f},
      5e-7f);
  check_both(in, resize_op<3, 4, resize_mode::bilinear, layout::chw>(),
             std::array<float, 12>{-0.614583313f, 0.697916627f, -0.739583313f, 0.572916687f, -1.03125f, 0.28125f,
                                   -1.15625f, 0.156250015f, 0.708333373f, -0.135416642f, 0.583333373f, -0.260416657f},
             5e-7f);
  check_both(in, resize_op<3, 10, resize_mode::nearest, layout::chw>(),
             std::array<float, 30>{-0.75f, -0.75f, 0.125f,  1.0f, 1.0f, -0.875f, -0.875f, 0.0f,  0.875f,  0.875f,
                                   -1.25f, -1.25f, -0.375f, 0.5f, 0.5f, -1.375f, -1.375f, -0.5f, 0.375f,  0.375f,
                                   1.125f, 1.125f, -0.875f, 0.0f, 0.0f, 1.0f,    1.0f,    -1.0f, -0.125f, -0.125f},
             0);
}

TEST_CASE("bias is added to its channel") {
  check_both(tensor<float, 2, 2>{1, 2, 3, 4}, bias_op(), std::array{11.0f, 12.0f, 23.0f, 24.0f}, 0,
             tensor<float, 2>{10, 20});
}

TEST_CASE("argmax is the first of equals and passes NaN over") {
  check_both(tensor<float, 2, 4>{1, 3, 3, 2, not_a_number, -5, -4, not_a_number}, argmax_op(), std::array{1.0f, 2.0f},
             0);
}

TEST_CASE("relu keeps NaN, a pool passes it on") {
  const tensor<float, 1, 2, 4> in{not_a_number, 1, 2, 3, -1, -2, -3, -4};
  for (const auto& out : {*by_one_kernel<reference>(in, {}, relu_op()), *by_one_kernel<simd>(in, {}, relu_op())}) {
    CHECK(std::isnan(out[0]));
    CHECK(out[3] == 3);
    CHECK(out[4] == 0);
  }
  using pool = max_pool2d_op<size<2>>;
  for (const auto& out : {*by_one_kernel<reference>(in, {}, pool()), *by_one_kernel<simd>(in, {}, pool())}) {
    CHECK(std::isnan(out[0]));
    CHECK(out[1] == 3);
  }
}

TEST_CASE("ONNX's nearest prefers the lower of two equally near pixels") {
  // 4 to 2: the centres of the outputs lie at 0.5 and 2.5.
  check_both(tensor<float, 1, 1, 4>{10, 11, 12, 13}, resize_op<1, 2, resize_mode::nearest, layout::chw>(),
             std::array{10.0f, 12.0f}, 0);
}

TEST_CASE("interleaved bytes become planes, are normalised and cropped") {
  const tensor<std::uint8_t, 1, 2, 3> pixels{1, 2, 3, 4, 5, 6};
  check_both(pixels, to_chw_op(), std::array{1.0f, 4.0f, 2.0f, 5.0f, 3.0f, 6.0f}, 0);
  const tensor<std::uint8_t, 2, 1, 2> planes{100, 200, 50, 0};
  check_both(planes, normalize_op<2>({0.5f, 1.0f}, {0.25f, 2.0f}, 0.01f), std::array{2.0f, 6.0f, -0.25f, -0.5f}, 1e-6f);
  check_both(pixels, crop_op<0, 1, 1, 1, layout::hwc>(), std::array{4.0f, 5.0f, 6.0f}, 0);
}
