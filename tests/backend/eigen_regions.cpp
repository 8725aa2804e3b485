// SPDX-License-Identifier: Apache-2.0
// Regions that `eigen` computes as one, against `reference` op by op.

#include <levada/backend/eigen.hpp>
#include <levada/nn/broadcast.hpp>
#include <levada/nn/element_wise.hpp>
#include <levada/nn/elementary.hpp>
#include <levada/nn/number.hpp>

#include "backend/library_regions.hpp"

using namespace levada;
using namespace levada::testing;

namespace {

template <std::size_t C>
using conv1 = conv2d_op<C, sized<1>>;

}  // namespace

TEST_CASE("eigen: a residual sum is computed with the convolution, block after block") {
  // More places than a block has.
  using in = planes<5, 17, 19>;
  using conv = conv2d_op<5, sized<3>, padding<1>, no_bias>;
  check_region<eigen>(type_list<in>(), 60, of<0>(conv()), of<1>(batch_norm_op()), of<0, 2>(nn::add), of<3>(relu_op()));
  check_region<eigen>(type_list<in, planes<19, 1, 1>, planes<1, 17, 19>, planes<19, 17, 19>>(), 40, of<0>(conv1<19>()),
                      of<4, 1>(nn::mul), of<2, 5>(nn::sub), of<6, 3>(nn::max));
}

TEST_CASE("eigen: what a convolution gives is taken twice") {
  check_region<eigen>(type_list<planes<4, 8, 17>, planes<1, 1, 1>>(), 30, of<0>(conv1<9>()), of<2>(nn::sigmoid),
                      of<2, 3>(nn::mul), of<4, 1>(nn::prelu));
}

TEST_CASE("eigen: dense layers and products of matrices meet other values") {
  using row = tensor<float, 37>;
  check_region<eigen>(type_list<row>(), 60, of<0>(dense_op<37>()), of<1>(nn::tanh), of<0, 2>(nn::add));
  using square = tensor<float, 9, 9>;
  check_region<eigen>(type_list<square, tensor<float, 9>>(), 20, of<0, 0>(matmul_op()), of<2>(nn::scale(0.125f)),
                      of<3, 1>(nn::add), of<4, 0>(nn::min));
}

TEST_CASE("eigen: functions of one element are computed with the results") {
  const auto check = [](const auto&... function) {
    check_library<eigen, planes<5, 6, 7>>(60, conv1<20>(), function.description...);
  };
  check(nn::clip(-2.0f, 1.5f), nn::number_minus(0.25f), nn::leaky_relu(0.2f), nn::tanh, nn::neg, nn::exp,
        nn::reciprocal, nn::offset(0.5f), nn::log, nn::silu, nn::at_most(1.5f));
  check(nn::hard_swish, nn::at_least(-0.1f), nn::divide_by(2.0f), nn::sigmoid, nn::sqrt, nn::hard_sigmoid(0.3f, 0.4f),
        nn::abs);
}

TEST_CASE("eigen: element-wise ops of any shape are one expression") {
  using in = planes<3, 5, 7>;
  check_region<eigen>(type_list<in, planes<3, 1, 1>>(), 10, of<0, 1>(nn::add), of<2>(nn::sigmoid), of<2, 3>(nn::mul),
                      of<0, 4>(nn::sub), of<5>(relu_op()));
  check_region<eigen>(type_list<tensor<float, 5, 33>, tensor<float, 33>>(), 10, of<0, 1>(nn::div), of<0, 2>(nn::max));
}

TEST_CASE("eigen: NaN passes through bounds") {
  auto in = random_tensor<tensor<float, 21>>();
  (*in)[20] = not_a_number;
  check_library<eigen>(*in, 0, dense_op<11>(), nn::clip(-1.0f, 1.0f).description, nn::leaky_relu(0.5f).description);
}

TEST_CASE("eigen: other regions are not taken") {
  using in = planes<5, 7, 9>;
  static_assert(!takes<eigen>(type_list<in>(), of<0>(conv1<5>()), of<1>(nn::gelu), of<0, 2>(nn::add)));
  static_assert(!takes<eigen>(type_list<in, planes<1, 1, 9>>(), of<0>(conv1<5>()), of<2, 1>(nn::add)));
  // What is taken twice again and again would be computed as often.
  static_assert(takes<eigen>(type_list<in>(), of<0, 0>(nn::mul), of<1, 1>(nn::add), of<2>(nn::neg)));
  static_assert(!takes<eigen>(type_list<in>(), of<0, 0>(nn::mul), of<1, 1>(nn::add), of<2, 2>(nn::mul),
                              of<3, 3>(nn::add), of<4, 4>(nn::mul)));
}
