// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/shapes.hpp: what tools/generate_shapes.py makes test cases of: an op of `simd` against `reference`, within
// the bounds that the tests of its kind have.

#include <algorithm>
#include <tuple>

#include <levada/backend/detail/define/bfloat16.hpp>
#include <levada/backend/detail/define/broadcast.hpp>
#include <levada/backend/detail/define/conv.hpp>
#include <levada/backend/detail/define/pictures.hpp>
#include <levada/backend/detail/define/pools.hpp>
#include <levada/backend/detail/define/quantized.hpp>
#include <levada/backend/detail/define/sums.hpp>
#include <levada/backend/reference/detail/definition.hpp>
#include <levada/backend/simd/detail/bfloat16_conv2d.hpp>
#include <levada/backend/simd/detail/bfloat16_dense.hpp>
#include <levada/backend/simd/detail/broadcast.hpp>
#include <levada/backend/simd/detail/conv_transpose2d.hpp>
#include <levada/backend/simd/detail/definition.hpp>
#include <levada/backend/simd/detail/matmul.hpp>
#include <levada/backend/simd/detail/qlinear_conv2d.hpp>
#include <levada/backend/simd/detail/qlinear_dense.hpp>
#include <levada/backend/simd/detail/qlinear_depthwise.hpp>
#include <levada/nn/element_wise.hpp>

#include "backend/conv2d.hpp"
#include "backend/eighths.hpp"
#include "nn/direct.hpp"

namespace levada::testing {

// Functions that make no difference between two results larger, as the bounds of sums have it.
inline constexpr auto leaky = nn::leaky_relu(0.25f).description;
inline constexpr auto halved = transform<"halved">([](auto x) { return x * 0.5f - 1.0f; }).description;

using simd_epilogue = detail::simd_epilogue<xsimd::default_arch, float>;

/// A convolution and the residual sum behind it, with a relu at the end where `Relu`, as one kernel.
template <class In, bool Relu, class Conv>
void check_residual(const Conv& conv) {
  using out = typename Conv::template output<In>;
  using sum_op = std::remove_cvref_t<decltype(nn::add.description)>;
  using sum = region_op<sum_op, std::tuple<out, out>, 1, 2>;
  constexpr auto as_region = [] {
    if constexpr (Relu)
      return std::type_identity<
          op_region<type_list<In, out>, region_op<Conv, In, 0>, sum, region_op<relu_op, out, 3>>>();
    else
      return std::type_identity<op_region<type_list<In, out>, region_op<Conv, In, 0>, sum>>();
  };
  using kernel = typename simd::region_kernel<typename decltype(as_region())::type>;

  random_parameters parameters;
  parameters.add<In, Conv>();
  const auto in = random_tensor<In>();
  const auto other = random_tensor<out>();
  const auto convolved = by_one_kernel<reference>(*in, parameters.all(), conv);
  const auto summed = by_one_kernel<reference>(std::tuple(*convolved, *other), {}, sum_op());
  const parameter_values values(parameters.all());
  const auto make = [&] {
    if constexpr (Relu)
      return on_heap<kernel>(conv, sum_op(), relu_op(), values);
    else
      return on_heap<kernel>(conv, sum_op(), values);
  };
  const auto joined = make();
  const aligned_bytes scratch(kernel::scratch_bytes);
  const auto computed = unwritten<out>();
  (*joined)(std::tie(*in, *other), *computed, scratch.data());
  double difference = 0;
  if constexpr (Relu) {
    const auto expected = by_one_kernel<reference>(*summed, {}, relu_op());
    difference = largest_difference(*expected, *computed);
  } else {
    difference = largest_difference(*summed, *computed);
  }
  check_difference(difference, conv_tolerance<In, Conv>(detail::method_of<kernel>), __PRETTY_FUNCTION__);
}

/// One way of computing a convolution with a relu, whole, and its tiles in two parts.
template <class Way, class In, class Out>
void check_way(const In& in, const Out& expected, std::span<const void* const> parameters, double tolerance) {
  const on_heap<Way> way(parameter_values(parameters), simd_epilogue{});
  const auto computed = unwritten<Out>();
  const auto compute = [&](const auto&... some) {
    (*way)(in.data(), computed->data(), aligned_bytes(Way::scratch_bytes).data(), detail::no_join(), nullptr, some...);
  };
  compute();
  check_difference(largest_difference(expected, *computed), tolerance, __PRETTY_FUNCTION__);
  if constexpr (requires { Way::tiles; }) {
    std::memset(static_cast<void*>(computed->data()), 0xff, sizeof(Out));
    compute(detail::tile_range{Way::tiles / 2, Way::tiles});
    compute(detail::tile_range{0, Way::tiles / 2});
    check_difference(largest_difference(expected, *computed), tolerance, __PRETTY_FUNCTION__);
  }
}

/// Each way that the convolution can be computed in, whichever is the fastest.
template <class In, class Conv>
void check_ways(const Conv& conv) {
  using arch = xsimd::default_arch;
  using run = detail::conv_run<In, Conv, relu_op>;
  random_parameters parameters;
  parameters.add<In, Conv>();
  const auto in = random_tensor<In>();
  const auto expected = by_single_kernels<reference>(*in, parameters.all(), conv, relu_op());
  const auto check = [&]<class Way>(std::type_identity<Way>, double epsilons) {
    check_way<Way>(*in, *expected, parameters.all(), epsilons * direct_tolerance<In, Conv>());
  };
  check(std::type_identity<detail::conv_by_channels<arch, run, simd_epilogue>>(), 1);
  check(std::type_identity<detail::conv_by_columns<arch, run, simd_epilogue>>(), 1);
  if constexpr (detail::takes_panels<run>)
    check(std::type_identity<detail::conv_by_panels<arch, run, simd_epilogue>>(), 1);
  if constexpr (detail::takes_rows<run>) check(std::type_identity<detail::conv_by_rows<arch, run, simd_epilogue>>(), 1);
  if constexpr (detail::takes_winograd<run>) {
    check(std::type_identity<detail::winograd_conv<arch, run, simd_epilogue, 2>>(), most_epsilons(2));
    check(std::type_identity<detail::winograd_conv<arch, run, simd_epilogue, 4>>(), most_epsilons(4));
  }
}

/// A tuple of two matrices.
template <class A, class B>
void check_matmul() {
  using value = typename A::value_type;
  const double tolerance =
      2.0 * static_cast<double>(std::numeric_limits<value>::epsilon()) * static_cast<double>(A::extents[A::rank - 1]);
  both(*random_input<std::tuple<A, B>>(), matmul_op(), tolerance);
}

/// Scales with which the results of random weights in -1 ... 1 spread over the integers, and over their borders.
constexpr qlinear_numbers spread_numbers(float products, bool relu) {
  return {.x = {0.02f, 31}, .y = {0.001f * products, 117}, .relu = relu};
}

}  // namespace levada::testing
