// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions, norms (also folded into a convolution) and log_softmax on both backends.

#include "backend/conv2d.hpp"
#include "nn/direct.hpp"

#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/detail/define/norms.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/conv1d.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/norm.hpp>

using namespace levada;
using namespace levada::testing;

namespace {

template <class In, class Op>
constexpr std::size_t parameters_of() {
  if constexpr (op_takes<Op, In>)
    return Op::template parameters<In>.size();
  else
    return 0;
}

/// As check_agreement; a variance is not negative.
template <class In, class... Ops>
void check_norm(const In& in, double tolerance, const Ops&... ops) {
  random_parameters parameters;
  parameters.add<In, Ops...>();
  constexpr std::size_t before = std::array{parameters_of<In, Ops>()...}[0];
  const std::size_t variance = sizeof...(Ops) > 1 ? before + 3 : 3;
  constexpr std::size_t channels = run_output_t<In, Ops...>::extents[0];
  if (parameters.all().size() > 2)
    for (std::size_t c = 0; c < channels; ++c) {
      auto* v = static_cast<typename In::value_type*>(const_cast<void*>(parameters.all()[variance]));
      v[c] = 1 + v[c] * v[c];
    }
  const auto expected = by_single_kernels<reference>(in, parameters.all(), ops...);
  const auto computed = by_one_kernel<simd>(in, parameters.all(), ops...);
  check_difference(largest_difference(*expected, *computed), tolerance, __PRETTY_FUNCTION__);
}

static_assert(!op_takes<instance_norm_op, tensor<float, 3>> && !op_takes<layer_norm_op<2>, tensor<float, 3, 4>>);
static_assert(!op_takes<batch_norm_op, tensor<int, 3, 4>>);
static_assert(layer_norm_op<-2>::parameters<tensor<float, 2, 3, 4>>[0].extents == shape(3, 4));

}  // namespace

TEST_CASE("groups and depthwise convolutions, with what fuses behind them") {
  check_conv<planes<4, 9, 21>>(conv2d_op<6, sized<3>, padding<1>, groups<2>>(), relu_op());
  check_conv<planes<5, 11, 19>>(conv2d_op<5, sized<3>, groups<5>, stride<2>, no_bias>(), bias_op(), relu_op());
  check_conv<planes<3, 12, 18>>(conv2d_op<6, sized<5, 3>, padding<2, 1>, groups<3>, dilation<1, 2>>(), relu_op(),
                                max_pool2d_op<sized<2>>(), flatten_op());
}

TEST_CASE("a convolution along one axis: sizes, strides, dilation, groups, one-sided padding") {
  static_assert(std::same_as<out<conv1d_op<4, sized<5>, padding<4, 0>>, tensor<float, 3, 21>>, tensor<float, 4, 21>>);
  static_assert(!op_takes<conv1d_op<4, sized<5>>, tensor<float, 3, 4>>);
  // What is said of a second axis would be lost.
  static_assert(!op_takes<conv1d_op<4, sized<5>, padding<0, 4, 0, 0>>, tensor<float, 3, 21>>);
  static_assert(!op_takes<conv1d_op<4, sized<5, 3>>, tensor<float, 3, 21>>);
  static_assert(!op_takes<conv1d_op<4, sized<5>, stride<1, 2>>, tensor<float, 3, 21>>);
  check_conv<tensor<float, 3, 21>>(conv1d_op<4, sized<5>, padding<4, 0>>());
  check_conv<tensor<float, 4, 50>>(conv1d_op<6, sized<3>, stride<2>, dilation<3>, groups<2>, no_bias>());
  check_conv<tensor<double, 2, 9>>(conv1d_op<17, sized<1>>());
}

TEST_CASE("a transposed convolution is the transpose of the convolution") {
  // <conv(x), y> = <x, transposed(y)> for any x and y, with the same weights.
  const auto check = []<class X, class Conv, class Transposed>(std::type_identity<X>, const Conv& conv,
                                                               const Transposed& transposed) {
    using y_type = out<Conv, X>;
    static_assert(std::same_as<out<Transposed, y_type>, X>);
    random_parameters weights;
    weights.add<X, Conv>();
    const auto x = random_input<X>();
    const auto y = random_input<y_type>();
    const auto forward = by_one_kernel<simd>(*x, weights.all(), conv);
    const auto back = both(*y, transposed, 0, weights.all());
    double left = 0, right = 0;
    for (std::size_t i = 0; i < y_type::elements; ++i) left += double((*forward)[i]) * double((*y)[i]);
    for (std::size_t i = 0; i < X::elements; ++i) right += double((*x)[i]) * double((*back)[i]);
    CHECK(std::abs(left - right) < 1e-3);
  };
  check(std::type_identity<planes<4, 9, 11>>(), conv2d_op<3, sized<3>, padding<1>, no_bias>(),
        conv_transpose2d_op<4, sized<3>, padding<1>, no_bias>());
  check(std::type_identity<planes<4, 10, 12>>(), conv2d_op<6, sized<3>, stride<2>, groups<2>, no_bias>(),
        conv_transpose2d_op<4, sized<3>, stride<2>, groups<2>, output_padding<1>, no_bias>());
  static_assert(!op_takes<conv_transpose2d_op<4, sized<1>, padding<1>>, planes<1, 2, 2>>);
  static_assert(
      std::same_as<out<conv_transpose2d_op<4, sized<3>, output_padding<0, 2>>, planes<1, 2, 2>>, planes<4, 4, 6>>);
  static_assert(conv_transpose2d_option<output_padding<0>> && !conv_transpose2d_option<int>);
}

TEST_CASE("batch_norm alone, and folded into the convolution before it") {
  check_norm(*random_input<planes<3, 5, 19>>(), 4 * epsilon, batch_norm_op());
  check_norm(*random_input<tensor<double, 7>>(), 1e-14, batch_norm_op{0.25});
  const auto in = random_input<planes<4, 8, 17>>();
  check_norm(*in, 200 * epsilon, conv2d_op<5, sized<3>, no_bias>(), batch_norm_op());
  check_norm(*in, 200 * epsilon, conv2d_op<8, sized<3>, groups<2>, padding<1>>(), batch_norm_op(), relu_op());
  check_norm(*in, 200 * epsilon, conv2d_op<5, sized<3>>(), batch_norm_op(), bias_op(), relu_op());
}

TEST_CASE("instance_norm and layer_norm, for rows of any length") {
  check_norm(*random_input<planes<3, 5, 7>>(), 20 * epsilon, instance_norm_op());
  check_norm(*random_input<planes<2, 8, 8>>(), 20 * epsilon, instance_norm_op{0.1});
  check_norm(*random_input<tensor<float, 3, 37>>(), 20 * epsilon, layer_norm_op<>());
  check_norm(*random_input<tensor<float, 3, 5, 4>>(), 20 * epsilon, layer_norm_op<1>());
  check_norm(*random_input<tensor<double, 2, 3>>(), 1e-14, layer_norm_op<0>());
  auto in = random_input<tensor<float, 2, 21>>();
  (*in)[30] = not_a_number;
  check_norm(*in, 20 * epsilon, layer_norm_op<>());
}

TEST_CASE("log_softmax row by row, also for large and special values") {
  for_lengths([](auto n) {
    auto in = random_tensor<tensor<float, 2, n>>();
    both(*in, log_softmax_op(), 8 * epsilon);
    for (float& x : *in) x *= 200;
    both(*in, log_softmax_op(), 1e-4);
    (*in)[0] = -infinity, (*in)[n - 1] = infinity, (*in)[n + n / 2] = not_a_number;
    both(*in, log_softmax_op(), 1e-4);
  });
}
