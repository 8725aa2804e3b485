// SPDX-License-Identifier: Apache-2.0
// Convolutions of `simd` by Winograd's transforms, against sums in double; and which are computed so.
//
// A result comes of inputs that its window does not read, so that its error goes by the largest input of each channel:
// at most `most_epsilons` epsilon of the sum over the channels of that times the filter's absolute weights.

#include <levada/graph/parameter_map.hpp>
#include <levada/interop/report.hpp>
#include <levada/levada.hpp>
#include <levada/nn/residual.hpp>

#include "backend/conv2d.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <class In, class Conv>
using run_of = detail::conv_run<In, Conv>;

/// The sums in double, and how many epsilons of their bound the largest error is.
template <class In, class Conv, class Out>
double errors_in_epsilons(const In& in, const Conv&, std::span<const void* const> parameters, const Out& computed) {
  constexpr window2d w = Conv::window;
  constexpr std::size_t channels = In::extents[0], height = In::extents[1], width = In::extents[2];
  const auto* weight = static_cast<const float*>(parameters[0]);
  std::vector<double> largest(channels);
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < height * width; ++i)
      largest[c] = std::max(largest[c], std::abs(double{in[c * height * width + i]}));
  double worst = 0;
  for (std::size_t f = 0; f < Conv::filters; ++f) {
    const double bias = Conv::has_bias ? double{static_cast<const float*>(parameters[1])[f]} : 0;
    double bound = std::abs(bias);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t k = 0; k < 9; ++k) bound += largest[c] * std::abs(double{weight[(f * channels + c) * 9 + k]});
    for (std::size_t y = 0; y < Out::extents[1]; ++y)
      for (std::size_t x = 0; x < Out::extents[2]; ++x) {
        double sum = bias;
        for (std::size_t c = 0; c < channels; ++c)
          for (std::size_t k = 0; k < 9; ++k) {
            const std::size_t from_y = y + k / 3 - w.top, from_x = x + k % 3 - w.left;
            if (from_y >= height || from_x >= width) continue;
            sum += double{in[(c * height + from_y) * width + from_x]} * double{weight[(f * channels + c) * 9 + k]};
          }
        const double error = std::abs(double{computed[(f * Out::extents[1] + y) * Out::extents[2] + x]} - sum);
        worst = std::max(worst, error / bound / double{std::numeric_limits<float>::epsilon()});
      }
  }
  return worst;
}

template <class In, class Conv, std::size_t Results = 4>
void check_winograd() {
  using epilogue = detail::simd_epilogue<xsimd::default_arch, float>;
  using kernel = detail::winograd_conv<xsimd::default_arch, run_of<In, Conv>, epilogue, Results>;
  random_parameters parameters;
  parameters.add<In, Conv>();
  const auto in = random_tensor<In>();
  const on_heap<kernel> k(parameter_values(parameters.all()), epilogue());
  aligned_bytes scratch(kernel::scratch_bytes);
  auto out = unwritten<run_output_t<In, Conv>>();
  (*k)(in->data(), out->data(), scratch.data());
  const double worst = errors_in_epsilons(*in, Conv(), parameters.all(), *out);
  CAPTURE(__PRETTY_FUNCTION__);
  CHECK(worst <= most_epsilons(Results));
}

template <std::size_t Filters, class... Options>
using conv = conv2d_op<Filters, sized<3>, Options...>;

}  // namespace

TEST_CASE("pictures of any size, channels and filters of any number") {
  check_winograd<planes<1, 3, 3>, conv<1>>();
  check_winograd<planes<1, 1, 1>, conv<1, padding<1>>>();
  check_winograd<planes<2, 4, 5>, conv<3, padding<1>>>();
  check_winograd<planes<16, 6, 6>, conv<16, no_bias>>();
  check_winograd<planes<17, 7, 9>, conv<33, padding<1>>>();
  check_winograd<planes<31, 13, 18>, conv<47, padding<1, 0>>>();
  check_winograd<planes<32, 14, 14>, conv<64, padding<1>, no_bias>>();
  check_winograd<planes<48, 19, 34>, conv<80, padding<1>>>();
  check_winograd<planes<64, 12, 50>, conv<96, padding<0, 2, 1, 1>>>();
  check_winograd<planes<5, 40, 67>, conv<20, padding<2>>>();
  check_winograd<planes<8, 5, 161>, conv<9, padding<3, 0, 0, 5>>>();
  check_winograd<planes<128, 9, 11>, conv<32, padding<1>>>();
}

TEST_CASE("tiles of 2 x 2 results") {
  check_winograd<planes<1, 3, 3>, conv<1>, 2>();
  check_winograd<planes<1, 1, 1>, conv<1, padding<1>>, 2>();
  check_winograd<planes<17, 7, 9>, conv<33, padding<1>>, 2>();
  check_winograd<planes<31, 13, 18>, conv<47, padding<1, 0>, no_bias>, 2>();
  check_winograd<planes<64, 12, 50>, conv<96, padding<0, 2, 1, 1>>, 2>();
  check_winograd<planes<300, 7, 7>, conv<96, padding<1>>, 2>();
}

TEST_CASE("rows of tiles in groups, of which the last is smaller") {
  check_winograd<planes<16, 90, 120>, conv<16, padding<1>>, 2>();
  check_winograd<planes<16, 90, 120>, conv<16, padding<1>>>();
  check_winograd<planes<40, 51, 64>, conv<24, padding<1>>>();
}

TEST_CASE("a convolution is transformed where that takes fewer cycles, and never by simd_direct") {
  using in = planes<64, 28, 28>;
  using sum_region = op_region<type_list<in, in>, region_op<conv<64, padding<1>>, in, 0>,
                               region_op<std::remove_cvref_t<decltype(nn::add)>::op_type, std::tuple<in, in>, 2, 1>>;
  const auto method = []<class Kernel>(std::type_identity<Kernel>) { return detail::method_of<Kernel>; };
  const auto of = [&]<class In, class... Ops>(std::type_identity<In>, const Ops&...) {
    CHECK(method(std::type_identity<simd_direct::kernel<In, Ops...>>()).empty());
    return method(std::type_identity<simd::kernel<In, Ops...>>());
  };
  constexpr std::string_view winograd = "Winograd F(4x4, 3x3)";
  constexpr std::type_identity<in> picture;
  CHECK(of(picture, conv<64, padding<1>>()) == winograd);
  CHECK(of(picture, conv<64, padding<1>, no_bias>(), batch_norm_op(), relu_op()) == winograd);
  CHECK(of(picture, conv<64, padding<1>, groups<2>>()) == winograd);
  CHECK(method(std::type_identity<simd::region_kernel<sum_region>>()) == winograd);
  CHECK(method(std::type_identity<simd_direct::region_kernel<sum_region>>()).empty());
  CHECK(of(picture, conv<64, padding<1>, stride<2>>()).empty());
  CHECK(of(picture, conv<64, padding<2>, dilation<2>>()).empty());
  CHECK(of(picture, conv<64, padding<1>>(), max_pool2d_op<sized<2>>()).empty());
  CHECK(of(picture, conv2d_op<64, sized<5>>()).empty());
  CHECK(of(picture, conv<64, padding<1>, groups<64>>()).empty());
  CHECK(of(std::type_identity<planes<1, 28, 28>>(), conv<16>()).empty());
  CHECK(of(std::type_identity<planes<512, 3, 3>>(), conv<512, padding<1>>()).empty());
  if constexpr (xsimd::batch<float>::size >= 8)
    CHECK(of(std::type_identity<planes<512, 7, 7>>(), conv<512, padding<1>>()) == "Winograd F(2x2, 3x3)");
  CHECK(of(std::type_identity<tensor<double, 64, 28, 28>>(), conv<64>()).empty());
}

TEST_CASE("what follows the convolution in its kernel, and what joins its results") {
  const auto agree = []<class In>(std::type_identity<In>, const auto&... ops) {
    random_parameters parameters;
    parameters.add<In, std::remove_cvref_t<decltype(ops)>...>();
    const auto in = random_tensor<In>();
    const auto direct = by_one_kernel<simd_direct>(*in, parameters.all(), ops...);
    const auto computed = by_one_kernel<simd>(*in, parameters.all(), ops...);
    const double difference = largest_difference(*direct, *computed);
    CHECK(difference > 0);  // it is transformed
    check_difference(difference, 1e-3, __PRETTY_FUNCTION__);
  };
  constexpr std::type_identity<planes<32, 21, 30>> picture;
  constexpr auto half = transform<"half">([](auto x) { return x * 0.5f + 1.0f; }).description;
  agree(picture, conv<48, padding<1>>(), relu_op());
  agree(picture, conv<48, padding<1>>(), bias_op(), relu_op(), flatten_op());
  agree(picture, conv<48, padding<1>>(), half);
  agree(picture, conv<40, padding<1>, no_bias>(), batch_norm_op(), relu_op());
  agree(picture, conv<64, padding<1>, groups<2>>(), relu_op());
}

TEST_CASE("a gate scales the channels that are transformed") {
  using in = planes<20, 17, 22>;
  using factors = tensor<float, 20, 1, 1>;
  using op = conv<48, padding<1>>;
  using product = std::remove_cvref_t<decltype(nn::mul)>::op_type;
  using kernel = simd::kernel<std::tuple<in, factors>, product, op>;
  static_assert(!kernel::method.empty());
  random_parameters parameters;
  parameters.add<in, op>();
  const auto picture = random_tensor<in>();
  const auto gate = random_tensor<factors>();
  const on_heap<in> scaled;
  for (std::size_t i = 0; i < in::elements; ++i) (*scaled)[i] = (*picture)[i] * (*gate)[i / (17 * 22)];
  const auto expected = by_one_kernel<simd>(*scaled, parameters.all(), op());
  const on_heap<kernel> k(nn::mul.description, op(), parameter_values(parameters.all()));
  aligned_bytes scratch(kernel::scratch_bytes);
  auto out = unwritten<run_output_t<in, op>>();
  (*k)(std::tie(*picture, *gate), *out, scratch.data());
  CHECK(largest_difference(*expected, *out) == 0);
}

TEST_CASE("a report says which units are transformed, and simd_direct is deployed instead") {
  using in = planes<32, 20, 20>;
  random_parameters values;
  values.add<in, conv<32, padding<1>>>();
  parameter_map weights;
  const on_heap<tensor<float, 32, 32, 3, 3>> weight;
  const on_heap<tensor<float, 32>> bias;
  std::memcpy(weight->data(), values.all()[0], sizeof(weight->values));
  std::memcpy(bias->data(), values.all()[1], sizeof(bias->values));
  weights.set("c.weight", *weight);
  weights.set("c.bias", *bias);
  const auto pipeline = input<in> | residual(nn::conv2d<"c", 32, sized<3>, padding<1>>(weights)) | nn::relu;
  const auto fast = deploy<target<cpu<1>>, backends<simd, reference>>(pipeline);
  const auto exact = deploy<target<cpu<1>>, backends<simd_direct, reference>>(pipeline);
  const auto item = random_tensor<in>();
  const on_heap<in> a, b;
  fast(*item, *a);
  exact(*item, *b);
  const double difference = largest_difference(*a, *b);
  CHECK(difference > 0);
  CHECK(difference < 1e-3);
  CHECK(report(fast).find("simd, Winograd F(4x4, 3x3)") != std::string::npos);
  CHECK(report(exact).find("simd_direct") != std::string::npos);
  CHECK(report(exact).find("Winograd") == std::string::npos);
}

TEST_CASE("a NaN reaches the results of the tiles that read it, and no others") {
  using in = planes<16, 24, 24>;
  using op = conv<16, padding<1>>;
  static_assert(!simd::kernel<in, op>::method.empty());
  random_parameters parameters;
  parameters.add<in, op>();
  const auto picture = random_tensor<in>();
  (*picture)[3 * 24 * 24 + 9 * 24 + 13] = std::numeric_limits<float>::quiet_NaN();
  const auto out = by_one_kernel<simd>(*picture, parameters.all(), op());
  for (std::size_t y = 0; y < 24; ++y)
    for (std::size_t x = 0; x < 24; ++x)
      CHECK(std::isnan((*out)[y * 24 + x]) == (y >= 8 && y < 12 && x >= 12 && x < 16));
}
