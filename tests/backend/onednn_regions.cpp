// SPDX-License-Identifier: Apache-2.0
// Regions that `onednn` computes as one, against `reference` op by op.

#include <levada/backend/onednn.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/number.hpp>
#include <levada/nn/parameter.hpp>
#include <levada/nn/residual.hpp>

#include "backend/library_regions.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t C>
using conv3 = conv2d_op<C, sized<3>, padding<1>>;
template <std::size_t C>
using conv1 = conv2d_op<C, sized<1>>;

}  // namespace

TEST_CASE("onednn: a residual sum is computed with the convolution, on either side, at odd sizes") {
  using in = planes<5, 7, 9>;
  check_region<onednn>(type_list<in>(), 60, of<0>(conv3<5>()), of<0, 1>(nn::add), of<2>(relu_op()));
  check_region<onednn>(type_list<in, planes<19, 7, 9>>(), 9, of<0>(conv1<19>()), of<2, 1>(nn::add));
  // Of many channels, where Winograd's way is shorter.
  using wide = planes<32, 13, 15>;
  check_region<onednn>(type_list<wide>(), 300, of<0>(conv3<32>()), of<1>(batch_norm_op()), of<0, 2>(nn::add),
                       of<3>(relu_op()));
}

TEST_CASE("onednn: a whole block of ResNet is one, and keeps its layouts inside") {
  using in = planes<24, 11, 10>;
  check_region<onednn>(type_list<in>(), 60000, of<0>(conv3<24>()), of<1>(batch_norm_op()), of<2>(relu_op()),
                       of<3>(conv3<24>()), of<4>(batch_norm_op()), of<5, 0>(nn::add), of<6>(relu_op()));
  // One that halves.
  using down = conv2d_op<40, sized<3>, stride<2>, padding<1>, no_bias>;
  check_region<onednn>(type_list<in>(), 60000, of<0>(down()), of<1>(batch_norm_op()), of<2>(relu_op()),
                       of<3>(conv3<40>()), of<0>(conv2d_op<40, sized<1>, stride<2>>()), of<4, 5>(nn::add),
                       of<6>(relu_op()));
}

TEST_CASE("onednn: results meet values of each channel, and one for all") {
  using in = planes<6, 9, 11>;
  using results = planes<18, 9, 11>;
  using channels = planes<18, 1, 1>;
  using one = planes<1, 1, 1>;
  check_region<onednn>(type_list<in, results, channels, one>(), 400, of<0>(conv1<18>()), of<4, 1>(nn::sub),
                       of<5, 2>(nn::mul), of<3, 6>(nn::min));
  check_region<onednn>(type_list<in, results, channels, one>(), 400, of<0>(conv1<18>()), of<1, 4>(nn::sub),
                       of<5, 2>(nn::prelu), of<6, 3>(nn::add), of<7>(nn::hard_swish));
  check_region<onednn>(type_list<in, channels, results>(), 400, of<0>(conv1<18>()), of<1, 3>(nn::add),
                       of<4, 2>(nn::max));
  // What another convolution gives, in oneDNN's layout.
  check_region<onednn>(type_list<one, in>(), 400, of<0>(conv1<18>()), of<2>(nn::sigmoid), of<1>(conv1<18>()),
                       of<4, 3>(nn::mul));
}

TEST_CASE("onednn: results are divided by those of another convolution") {
  check_region<onednn>(type_list<planes<4, 5, 5>>(), 3000, of<0>(conv1<7>()), of<1>(nn::sigmoid), of<0>(conv1<7>()),
                       of<3, 2>(nn::div));
}

TEST_CASE("onednn: functions of one element are computed with the results") {
  // Each is near the identity somewhere, so that what one does wrong is seen behind the others.
  const auto check = [](const auto&... function) {
    check_library<onednn, planes<5, 6, 7>>(60, conv1<20>(), function.description...);
  };
  check(nn::elu(0.7f), nn::number_minus(0.25f), nn::leaky_relu(0.2f), nn::scale(3.0f), nn::tanh, nn::neg, nn::gelu,
        nn::offset(0.5f), nn::softplus, nn::silu, nn::at_most(1.5f));
  check(nn::hard_swish, nn::at_least(-0.1f), nn::scale(2.0f), nn::sigmoid, nn::offset(-0.75f), nn::scale(4.0f),
        nn::gelu_tanh, nn::mish, nn::hard_sigmoid(0.3f, 0.4f), nn::clip(0.1f, 0.9f), nn::abs);
}

TEST_CASE("onednn: dense layers of one row and of several meet other values") {
  using row = tensor<float, 37>;
  check_region<onednn>(type_list<row>(), 90, of<0>(dense_op<37>()), of<1>(nn::gelu.description), of<0, 2>(nn::add));
  using rows = tensor<float, 5, 37>;
  check_region<onednn>(type_list<rows, tensor<float, 70>, tensor<float, 5, 1>>(), 90, of<0>(dense_op<70>()),
                       of<3, 1>(nn::mul), of<4, 2>(nn::add));
  check_region<onednn>(type_list<rows>(), 4000, of<0>(dense_op<70>()), of<1>(nn::tanh), of<2>(dense_op<37, no_bias>()),
                       of<0, 3>(nn::add));
}

TEST_CASE("onednn: products of matrices are scaled, masked and summed") {
  using square = tensor<float, 9, 9>;
  check_region<onednn>(type_list<square>(), 20, of<0, 0>(matmul_op()), of<1>(nn::scale(0.125f)), of<0, 2>(nn::add));
  using heads = tensor<float, 3, 20, 17>;
  check_region<onednn>(type_list<heads, tensor<float, 3, 17, 6>, tensor<float, 1, 1, 6>, tensor<float, 3, 20, 6>>(), 30,
                       of<0, 1>(matmul_op()), of<4, 2>(nn::add), of<5, 3>(nn::max));
  using one = tensor<float, 1, 17, 6>;  // for all
  check_region<onednn>(type_list<heads, one>(), 30, of<0, 1>(matmul_op()), of<2>(relu_op()), of<3>(nn::neg));
}

TEST_CASE("onednn: parameters are among the operands") {
  using in = planes<4, 6, 7>;
  using conv = conv2d_op<4, sized<3>, padding<1>>;
  using factor = parameter_op<detail::product_of, parameter_place::second, 4, 1, 1>;
  using from = parameter_op<detail::difference_of, parameter_place::first, 4, 6, 7>;
  check_region<onednn>(type_list<in>(), 60, of<0>(conv()), of<1>(factor()), of<0, 2>(nn::add), of<3>(from()));
  using product = matmul_parameter_op<parameter_place::second, 37, 21>;
  using term = parameter_op<detail::sum_of_two, parameter_place::second, 21>;
  check_region<onednn>(type_list<tensor<float, 5, 37>, tensor<float, 5, 21>>(), 60, of<0>(product()), of<2>(term()),
                       of<3, 1>(nn::sub));
}

TEST_CASE("onednn: a deployed block with its residual is one unit") {
  using picture = planes<9, 13, 11>;
  parameter_map weights;
  const auto set = [&](const char* name, const shape& extents) {
    std::vector<float> values(extents.elements());
    for (float& v : values) v = random_value<float>() / 4;
    weights.set(name, element::f32, extents, values.data());
  };
  set("a.weight", shape(9, 9, 3, 3));
  set("a.bias", shape(9));
  set("b.weight", shape(9, 9, 1, 1));
  set("b.bias", shape(9));
  const auto network = input<picture> |
                       residual(nn::conv2d<"a", 9, sized<3>, padding<1>>(weights) | nn::hard_swish |
                                nn::conv2d<"b", 9, sized<1>>(weights)) |
                       nn::relu;
  const auto app = deploy<target<cpu<2>>, backends<onednn, reference>>(network);
  static_assert(decltype(app)::plan.units == 1 && decltype(app)::plan.unit[0].backend == 0);
  const auto naive = deploy<target<cpu<2>>, backends<reference>>(network);
  const auto in = random_tensor<picture>();
  CHECK(largest_difference(naive(*in), app(*in)) <= 60 * epsilon);
}

TEST_CASE("onednn: other regions are not taken") {
  using in = planes<5, 7, 9>;
  // What the convolution gives is taken twice.
  static_assert(!takes<onednn>(type_list<in>(), of<0>(conv3<5>()), of<1>(nn::sigmoid), of<1, 2>(nn::mul)));
  // Nothing has weights.
  static_assert(!takes<onednn>(type_list<in>(), of<0>(nn::sigmoid), of<0, 1>(nn::mul)));
  // A function that nobody named; a divisor; numbers along the last axis and of each place.
  static constexpr auto own = transform<"own">([](auto x) { return x * x; });
  static_assert(!takes<onednn>(type_list<in>(), of<0>(conv3<5>()), of<1>(own), of<0, 2>(nn::add)));
  static_assert(!takes<onednn>(type_list<in>(), of<0>(conv3<5>()), of<0, 1>(nn::div)));
  static_assert(!takes<onednn>(type_list<in, planes<1, 1, 9>>(), of<0>(conv3<5>()), of<2, 1>(nn::add)));
  static_assert(!takes<onednn>(type_list<in, planes<1, 7, 9>>(), of<0>(conv3<5>()), of<2, 1>(nn::add)));
}
