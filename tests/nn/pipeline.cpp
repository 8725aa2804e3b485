// SPDX-License-Identifier: Apache-2.0
// The ops of <levada/ops.hpp> as stages: a small network with weights by name, deployed on each backend of the CPU.

#include "nn/direct.hpp"

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;
using namespace levada::testing;

namespace {

using box = lv::target<lv::cpu<2>>;
using picture = lv::tensor<std::uint8_t, 30, 23, 3>;

/// Random weights; a variance is positive.
lv::parameter_map made_weights() {
  lv::parameter_map weights;
  const auto set = [&]<class T>(const char* name, std::type_identity<T>, float least = -1) {
    auto values = random_input<T>();
    if (least > 0)
      for (float& x : *values) x = least + std::abs(x);
    weights.set(name, *values);
  };
  set("stem.weight", std::type_identity<lv::tensor<float, 6, 3, 3, 3>>());
  for (const char* name : {"norm.scale", "norm.bias", "norm.mean"})
    set(name, std::type_identity<lv::tensor<float, 6>>());
  set("norm.variance", std::type_identity<lv::tensor<float, 6>>(), 0.5f);
  set("depth.weight", std::type_identity<lv::tensor<float, 6, 1, 3, 3>>());
  set("depth.bias", std::type_identity<lv::tensor<float, 6>>());
  set("up.weight", std::type_identity<lv::tensor<float, 6, 4, 2, 2>>());
  set("up.bias", std::type_identity<lv::tensor<float, 4>>());
  set("head.weight", std::type_identity<lv::tensor<float, 5, 4>>());
  set("head.bias", std::type_identity<lv::tensor<float, 5>>());
  return weights;
}

auto network(const lv::parameter_map& weights) {
  namespace nn = lv::nn;
  return lv::input<picture> | lv::image::letterbox<24, 24, lv::resize_mode::bilinear, lv::layout::hwc>() |
         lv::image::gaussian_blur<3, lv::layout::hwc>() | lv::image::to_chw |
         lv::transform<"unit">([](auto x) { return x * (1 / 255.0f); }) |
         nn::conv2d<"stem", 6, lv::size<3>, lv::stride<2>, lv::padding<1>, lv::no_bias>(weights) |
         nn::batch_norm<"norm">(weights) | nn::leaky_relu(0.1f) |
         nn::conv2d<"depth", 6, lv::size<3>, lv::padding<1>, lv::groups<6>>(weights) | nn::hard_swish |
         nn::conv_transpose2d<"up", 4, lv::size<2>, lv::stride<2>>(weights) |
         nn::pad<lv::pad_mode::reflect, 0, 1, 1, 0, 1, 1>() |
         nn::avg_pool2d<3, lv::stride<2>, lv::padding<1>, lv::count_padding> | nn::global_avg_pool2d | nn::squeeze<> |
         nn::dense<"head", 5>(weights) | nn::log_softmax | nn::top_k<2>;
}

}  // namespace

TEST_CASE("a network of these ops gives the same on simd as on reference, item by item and as a stream") {
  const auto weights = made_weights();
  const auto fast = lv::deploy<box>(network(weights));
  const auto plain = lv::deploy<box, lv::backends<lv::reference>>(network(weights));
  static_assert(decltype(fast)::plan.segments == 1);
  std::vector<picture> pictures;
  for (int i = 0; i < 40; ++i) pictures.push_back(*random_input<picture>());
  std::size_t i = 0;
  for (auto&& result : fast.stream(pictures)) {
    const auto expected = plain(pictures[i++]);
    CHECK(largest_difference(std::get<0>(*result), std::get<0>(expected)) <= 1e-4);
    CHECK(std::get<1>(*result) == std::get<1>(expected));
  }
  CHECK(i == pictures.size());
}
