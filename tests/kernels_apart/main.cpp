// SPDX-License-Identifier: Apache-2.0
// A pipeline whose kernels are compiled in units of their own computes what it computes with all in one. This unit is
// compiled by levada_add_kernels; that its kernels are elsewhere is what list_again.cmake looks at.

#include <cstddef>
#include <memory>

#include <doctest/doctest.h>
#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include "../numbers.hpp"

namespace lv = levada;
using lv::test::numbers;

namespace {

using picture = lv::tensor<float, 3, 12, 10>;

auto network(const lv::parameter_map& weights) {
  return lv::input<picture> | lv::transform<"halve">([](auto x) { return x * 0.5f; }) |
         lv::nn::conv2d<"conv", 8, lv::size<3>, lv::padding<1>>(weights) | lv::nn::relu | lv::nn::max_pool2d<2> |
         lv::residual(lv::nn::conv2d<"inner", 8, lv::size<1>>(weights)) | lv::nn::flatten |
         lv::nn::dense<"head", 10>(weights) | lv::nn::softmax;
}

TEST_CASE("kernels of other units") {
  lv::parameter_map weights;
  weights.set("conv.weight", numbers<lv::tensor<float, 8, 3, 3, 3>>(7));
  weights.set("conv.bias", numbers<lv::tensor<float, 8>>(3));
  weights.set("inner.weight", numbers<lv::tensor<float, 8, 8, 1, 1>>(5));
  weights.set("inner.bias", numbers<lv::tensor<float, 8>>(2));
  weights.set("head.weight", numbers<lv::tensor<float, 10, 240>>(9));
  weights.set("head.bias", numbers<lv::tensor<float, 10>>(4));
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(network(weights));
  const auto plain = lv::deploy<lv::target<lv::cpu<1>>, lv::backends<lv::reference>>(network(weights));
  const auto item = std::make_unique<picture>(numbers<picture>(11));
  const auto computed = app(*item), expected = plain(*item);
  for (std::size_t i = 0; i < 10; ++i) CHECK(computed[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

}  // namespace
