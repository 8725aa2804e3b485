// SPDX-License-Identifier: Apache-2.0
// The ways in which `simd` computes convolutions of 1 x 1 and of single channels, against `reference`: tails of panels,
// vectors, rows and blocks of channels; and which convolutions are computed so.

#include <concepts>
#include <string_view>
#include <type_traits>

#include "backend/conv2d.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <class In, class Conv, class... Tail>
constexpr bool by_panels = simd::kernel<In, Conv, Tail...>::method == std::string_view("product of packed panels");

template <class In, class Conv>
using run_of = detail::conv_run<In, Conv, relu_op>;
using epilogue = detail::simd_epilogue<xsimd::default_arch, float>;
template <class In, class Conv>
constexpr bool by_columns = std::same_as<detail::simd_conv<xsimd::default_arch, run_of<In, Conv>, epilogue>,
                                         detail::conv_by_columns<xsimd::default_arch, run_of<In, Conv>, epilogue>>;

/// The way along the filters, whichever is fastest for these shapes: its picture as it is, and scaled.
template <class In, class Conv>
void check_along_filters(const Conv& conv) {
  constexpr auto check = []<class Picture>(std::type_identity<Picture>, const In& in, const In& unscaled,
                                           const float* scale, const random_parameters& parameters, const Conv& c) {
    using way = detail::conv_by_channels<xsimd::default_arch, run_of<Picture, Conv>, epilogue>;
    using out = run_output_t<In, Conv, relu_op>;
    const on_heap<way> k(parameter_values(parameters.all()), epilogue());
    const auto computed = unwritten<out>();
    (*k)(unscaled.data(), computed->data(), aligned_bytes(way::scratch_bytes).data(), detail::no_join(), scale);
    const auto expected = by_single_kernels<reference>(in, parameters.all(), c, relu_op());
    check_difference(largest_difference(*expected, *computed), (In::extents[0] + 2) * epsilon, __PRETTY_FUNCTION__);
  };
  random_parameters parameters;
  parameters.add<In, Conv>();
  const auto in = random_tensor<In>();
  check(std::type_identity<In>(), *in, *in, nullptr, parameters, conv);
  const auto scale = random_tensor<tensor<float, In::extents[0]>>();
  const auto scaled = std::make_unique<In>(*in);
  for (std::size_t i = 0; i < In::elements; ++i) (*scaled)[i] *= (*scale)[i / (In::elements / In::extents[0])];
  check(std::type_identity<detail::scaled_picture<In>>(), *scaled, *in, scale->data(), parameters, conv);
}

TEST_CASE("a convolution of 1 x 1 along the filters packs the pixels of its tiles") {
  // Rows that are joined; tiles and a rest; one tile alone; few channels or filters, which are not packed.
  check_along_filters<planes<37, 7, 7>>(conv2d_op<270, sized<1>>());
  check_along_filters<planes<19, 5, 31>>(conv2d_op<257, sized<1>, no_bias>());
  check_along_filters<planes<21, 2, 3>>(conv2d_op<273, sized<1>>());
  check_along_filters<planes<5, 10, 10>>(conv2d_op<33, sized<1>>());
  check_along_filters<planes<40, 14, 14>>(conv2d_op<35, sized<1>>());
  // Strides; strips of rows, the last of them smaller; channels in blocks, which are whole rounds.
  check_along_filters<planes<23, 9, 29>>(conv2d_op<260, sized<1>, stride<2>>());
  check_along_filters<planes<23, 2, 10>>(conv2d_op<256, sized<1>, stride<2, 3>>());
  check_along_filters<planes<311, 14, 21>>(conv2d_op<259, sized<1>>());
  check_along_filters<planes<4200, 2, 5>>(conv2d_op<261, sized<1>>());
  check_along_filters<planes<8204, 2, 5>>(conv2d_op<64, sized<1>>());
}

TEST_CASE("a convolution of 1 x 1 is a product of packed panels") {
  static_assert(by_panels<planes<64, 14, 14>, conv2d_op<48, sized<1>>>);
  static_assert(!by_panels<planes<64, 14, 14>, conv2d_op<48, sized<1>, padding<1>>>);
  static_assert(!by_panels<planes<64, 1, 1>, conv2d_op<10, sized<1>>>);
  // One panel that is not full; panels in several groups and a rest; strides.
  check_conv<planes<37, 5, 3>>(conv2d_op<13, sized<1>>(), relu_op());
  check_conv<planes<201, 9, 23>>(conv2d_op<7, sized<1>, no_bias>());
  check_conv<planes<19, 8, 13>>(conv2d_op<17, sized<1>, stride<2, 3>>(), bias_op(), relu_op());
  check_conv<planes<19, 36, 90>>(conv2d_op<17, sized<1>, stride<2>>(), relu_op());
  check_conv<planes<5, 7, 141>>(conv2d_op<9, sized<1>, stride<2>>());
}

TEST_CASE("a product of packed panels takes many channels in blocks, and weights of many filters once for a group") {
  check_conv<planes<533, 3, 7>>(conv2d_op<9, sized<1>>(), relu_op());
  check_conv<planes<530, 7, 7>>(conv2d_op<262, sized<1>>());
}

TEST_CASE("a convolution along the width copies a strip of rows at a time") {
  static_assert(by_columns<planes<3, 224, 224>, conv2d_op<32, sized<3>, stride<2>, padding<1>>>);
  check_conv<planes<3, 150, 200>>(conv2d_op<5, sized<3>, padding<1>>(), relu_op());
  check_conv<planes<3, 161, 210>>(conv2d_op<4, sized<3>, stride<2>, padding<1>>());
  check_conv<planes<2, 300, 130>>(conv2d_op<3, sized<5, 3>, padding<2>, dilation<3, 1>>(), relu_op());
  check_conv<planes<3, 152, 202>>(conv2d_op<4, sized<3>>(), relu_op(), max_pool2d_op<size<2>>());
  // Rows of padding that no tap reads beside; a strip of one row.
  check_conv<planes<1, 400, 200>>(conv2d_op<2, sized<3>, padding<5, 1>>());
  check_conv<planes<2, 4, 40000>>(conv2d_op<2, sized<3>, padding<1>>());
}

TEST_CASE("each channel of a depthwise convolution is computed by rows") {
  check_conv<planes<3, 7, 7>>(conv2d_op<3, sized<3>, padding<1>, groups<3>>(), relu_op());
  check_conv<planes<2, 15, 37>>(conv2d_op<2, sized<3>, padding<1>, groups<2>, no_bias>());
  check_conv<planes<2, 14, 35>>(conv2d_op<2, sized<3>, stride<2>, padding<1>, groups<2>>(), relu_op());
  check_conv<planes<2, 13, 22>>(conv2d_op<2, sized<5>, stride<2>, padding<0, 1, 2, 3>, groups<2>>());
  check_conv<planes<2, 19, 21>>(conv2d_op<2, sized<5, 3>, padding<2>, dilation<2, 1>, groups<2>>(), relu_op());
  check_conv<planes<1, 6, 9>>(conv2d_op<1, sized<4, 2>, stride<3, 1>>());
  // Taps of a row in a loop.
  check_conv<planes<2, 12, 21>>(conv2d_op<2, sized<9>, padding<4>, groups<2>>(), relu_op());
}

TEST_CASE("pictures of many rows and vectors are read in place, and narrow ones are stored by whole vectors") {
  check_conv<planes<2, 40, 70>>(conv2d_op<2, sized<3>, padding<1>, groups<2>>(), relu_op());
  check_conv<planes<2, 41, 75>>(conv2d_op<2, sized<3>, stride<2>, padding<1>, groups<2>>(), relu_op());
  check_conv<planes<2, 20, 130>>(conv2d_op<2, sized<5>, stride<2>, padding<2>, groups<2>>());
  // A stride of one extent, dilation, a padding wider than a vector.
  check_conv<planes<2, 30, 41>>(conv2d_op<2, sized<3>, stride<2, 1>, padding<1>, groups<2>>());
  check_conv<planes<2, 9, 83>>(conv2d_op<2, sized<3, 2>, stride<1, 2>, dilation<2, 3>, padding<1, 35>, groups<2>>());
  check_conv<planes<2, 5, 21>>(conv2d_op<2, sized<3>, padding<1, 37>, groups<2>>());
  // Fewer columns than a vector has lanes, down to one.
  check_conv<planes<3, 20, 3>>(conv2d_op<3, sized<3>, padding<1>, groups<3>>(), relu_op());
  check_conv<planes<3, 19, 1>>(conv2d_op<3, sized<3>, padding<1>, groups<3>>());
  check_conv<planes<3, 9, 5>>(conv2d_op<3, sized<5>, stride<2>, padding<2>, groups<3>>(), relu_op());
}

}  // namespace
