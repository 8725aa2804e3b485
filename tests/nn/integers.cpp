// SPDX-License-Identifier: Apache-2.0
// Scales of each index of an axis, scales found at run time, and products of integers.

#include <limits>
#include <type_traits>
#include <vector>

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/ops.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

using u8 = std::uint8_t;
using i8 = std::int8_t;
template <class T, std::size_t... Dims>
using t = tensor<T, Dims...>;

static_assert(std::same_as<out<matmul_integer_op, std::tuple<t<u8, 2, 3, 4>, t<i8, 4, 5>>>, t<std::int32_t, 2, 3, 5>>);
static_assert(!op_takes<matmul_integer_op, std::tuple<t<u8, 3, 4>, t<float, 4, 5>>>);
static_assert(quantize_along_op<i8, 1>::parameters<t<float, 2, 3>>[1].extents == shape(3));
static_assert(!op_takes<quantize_along_op<i8, 2>, t<float, 2, 3>>);
static_assert(std::same_as<out<conv_integer2d_op<2, i8, levada::size<2>>, t<u8, 3, 5, 5>>, t<std::int32_t, 2, 4, 4>>);

}  // namespace

TEST_CASE("integers with a scale for each index of an axis and back") {
  const t<float, 2, 3> x{{1, 2, 300, -1, 2.5f, 3}};
  const float scale[] = {0.5f, 1, 2};
  const i8 zero[] = {0, 10, -3};
  const void* const parameters[] = {scale, zero};
  const auto q = both(x, quantize_along_op<i8, 1>(), 0, parameters);
  CHECK(*q == t<i8, 2, 3>{{2, 12, 127, -2, 12, -1}});  // 3 / 2 = 1.5 goes to the even 2
  CHECK(*both(*q, dequantize_along_op<-1>(), 0, parameters) == t<float, 2, 3>{{1, 2, 260, -1, 2, 4}});
}

TEST_CASE("a scale is found that holds all numbers and 0") {
  const auto [q, scale, zero] = *both(t<float, 4>{{0, 51, -51, 204}}, nn::dynamic_quantize_linear.description);
  CHECK(scale[0] == 1);
  CHECK(zero[0] == 51);
  CHECK(q == t<u8, 4>{{51, 102, 0, 255}});
  const auto [all_zero, one, none] = *both(t<float, 2>{}, nn::dynamic_quantize_linear.description);
  CHECK((one[0] == 1 && none[0] == 0 && all_zero == t<u8, 2>{}));
}

TEST_CASE("products of integers are exact, or rounded once") {
  const std::tuple<t<u8, 2, 2>, t<i8, 2, 1>> in{{{200, 1, 3, 100}}, {{-128, 7}}};
  CHECK(*both(in, nn::matmul_integer(0, 0).description) == t<std::int32_t, 2, 1>{{-25593, 316}});
  CHECK(*both(in, nn::matmul_integer(100, -1).description) ==
        t<std::int32_t, 2, 1>{{100 * -127 + -99 * 8, -97 * -127}});
  CHECK(*both(in, nn::qlinear_matmul<u8>({0.5f, 0}, {0.25f, 0}, {10, 128}).description) == t<u8, 2, 1>{{0, 132}});
}

TEST_CASE("a convolution of integers is that of float") {
  auto x = random_tensor<t<u8, 4, 6, 5>>();
  using options = conv2d_op<6, levada::size<3>, padding<1>, levada::groups<2>, no_bias>;
  auto weight = random_tensor<t<i8, 6, 2, 3, 3>>();
  const void* const parameters[] = {weight->data()};
  const conv_integer2d_op<6, i8, levada::size<3>, padding<1>, levada::groups<2>, no_bias> op{{}, 7, -3};
  const auto sums = both(*x, op, 0, parameters);
  t<float, 4, 6, 5> of_float;
  for (std::size_t i = 0; i < x->size(); ++i) of_float[i] = static_cast<float>((*x)[i]) - 7;
  t<float, 6, 2, 3, 3> float_weight;
  for (std::size_t i = 0; i < weight->size(); ++i) float_weight[i] = static_cast<float>((*weight)[i]) + 3;
  const void* const float_parameters[] = {float_weight.data()};
  const auto expected = by_one_kernel<reference>(of_float, float_parameters, options());
  for (std::size_t i = 0; i < expected->size(); ++i) CHECK(static_cast<float>((*sums)[i]) == (*expected)[i]);
}

TEST_CASE("sums of integers beyond int32 wrap around") {
  constexpr std::size_t terms = 40000;  // 255 * 255 each
  using row = t<u8, 1, terms>;
  on_heap<std::tuple<row, t<u8, terms, 1>>> in;
  std::get<0>(*in).fill(255);
  std::get<1>(*in).fill(255);
  const auto wanted = static_cast<std::int32_t>(static_cast<std::uint32_t>(terms * 255 * 255));
  CHECK(both(*in, nn::matmul_integer(0, 0).description)->data()[0] == wanted);

  on_heap<t<u8, terms, 1, 1>> picture;
  picture->fill(255);
  const std::vector<u8> weight(terms, 255);
  const void* const parameters[] = {weight.data()};
  CHECK((*both(*picture, conv_integer2d_op<1, u8, levada::size<1>, no_bias>{}, 0, parameters))[0] == wanted);
}

template <class T>
void check_product() {
  const auto large = static_cast<T>(std::numeric_limits<T>::max() - 1);
  const std::tuple<t<T, 2, 5, 3>, t<T, 3, 7>> in = [&] {
    std::tuple<t<T, 2, 5, 3>, t<T, 3, 7>> made;
    for (std::size_t i = 0; i < 30; ++i) std::get<0>(made)[i] = static_cast<T>(i % 4 == 0 ? large : static_cast<T>(i));
    for (std::size_t i = 0; i < 21; ++i) std::get<1>(made)[i] = static_cast<T>(i % 3 == 0 ? large : static_cast<T>(i));
    return made;
  }();
  const auto product = both(in, nn::matmul.description);
  using wide = std::make_unsigned_t<T>;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t y = 0; y < 5; ++y)
      for (std::size_t x = 0; x < 7; ++x) {
        wide sum = 0;
        for (std::size_t k = 0; k < 3; ++k)
          sum += static_cast<wide>(std::get<0>(in)(b, y, k)) * static_cast<wide>(std::get<1>(in)(k, x));
        CHECK((*product)(b, y, x) == static_cast<T>(sum));
      }
}

TEST_CASE("a product of matrices of integers is exact and wraps around") {
  static_assert(!op_takes<matmul_op, std::tuple<t<u8, 2, 3>, t<u8, 3, 2>>>);
  check_product<std::int32_t>();
  check_product<std::int64_t>();
  check_product<std::uint32_t>();
  check_product<std::uint64_t>();
}
