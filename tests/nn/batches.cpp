// SPDX-License-Identifier: Apache-2.0
// Ops behind `batch<N>`: what they make of a batch is what they make of each of its items.

#include "nn/direct.hpp"

#include <array>
#include <memory>
#include <vector>

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;
namespace nn = levada::nn;
using namespace levada::testing;

namespace {

using box = lv::target<lv::cpu<2>>;
using picture = lv::tensor<float, 3, 9, 7>;

lv::parameter_map made_weights() {
  lv::parameter_map weights;
  const auto set = [&]<class T>(const char* name, std::type_identity<T>) { weights.set(name, *random_input<T>()); };
  set("conv.weight", std::type_identity<lv::tensor<float, 4, 3, 3, 3>>());
  set("conv.bias", std::type_identity<lv::tensor<float, 4>>());
  set("one.weight", std::type_identity<lv::tensor<float, 4, 4, 1, 1>>());
  set("one.bias", std::type_identity<lv::tensor<float, 4>>());
  set("fc.weight", std::type_identity<lv::tensor<float, 13, 48>>());
  set("fc.bias", std::type_identity<lv::tensor<float, 13>>());
  return weights;
}

/// A run that fuses, branches, views, a join, and a matrix product.
auto network(const lv::parameter_map& w) {
  return nn::conv2d<"conv", 4, lv::size<3>, lv::padding<1>>(w) | nn::relu | nn::max_pool2d<2> |
         lv::fork(nn::conv2d<"one", 4, lv::size<1>>(w) | nn::relu, lv::identity) | nn::concat<0> | nn::flatten |
         nn::reshape<8, 12> | nn::softmax | nn::slice<lv::along<1, 0, 6>> | nn::flatten | nn::dense<"fc", 13>(w) |
         nn::relu;
}

std::vector<picture> pictures(int count) {
  std::vector<picture> all;
  for (int i = 0; i < count; ++i) all.push_back(*random_input<picture>());
  return all;
}

}  // namespace

TEST_CASE("a network on batches gives what it gives item by item") {
  const auto weights = made_weights();
  const auto check = [&]<class Options>(std::type_identity<Options>) {
    const auto alone = lv::deploy<box, Options>(lv::input<picture> | network(weights));
    const auto together = lv::deploy<box, Options>(lv::input<picture> | lv::batch<5> | network(weights) | lv::unbatch);
    for (const int count : {1, 5, 13}) {
      const auto items = pictures(count);
      std::size_t next = 0;
      for (auto&& r : together.stream(items)) {
        const auto expected = std::make_unique<lv::tensor<float, 13>>(alone(items[next++]));
        for (std::size_t i = 0; i < 13; ++i) CHECK((*r)[i] == doctest::Approx((*expected)[i]).epsilon(1e-5));
      }
      CHECK(next == items.size());
    }
  };
  check(std::type_identity<lv::backends<lv::simd>>());
  check(std::type_identity<lv::backends<lv::reference>>());
}

TEST_CASE("what is a view of an item is one of a batch where it is all of it") {
  using app = decltype(lv::deploy<box>(lv::input<picture> | lv::batch<4> | nn::relu | nn::flatten | nn::relu |
                                       nn::slice<lv::along<0, 0, 7>> | nn::relu | lv::unbatch));
  constexpr const auto& plan = std::get<1>(app::plan.region);
  static_assert(plan.value[2].storage == plan.value[1].storage);  // the flatten
  static_assert(plan.value[4].storage != plan.value[3].storage);  // the slice
}

TEST_CASE(
    "an op that gives no tensor gives an array of what it gives; parameters are replaced for the batches behind") {
  auto weights = made_weights();
  const auto app = lv::deploy<box>(lv::input<lv::tensor<float, 48>> | lv::batch<3> |
                                   lv::params<"head">(nn::dense<"fc", 13>(weights)) | nn::top_k<2> | lv::unbatch);
  const auto alone = lv::deploy<box>(lv::input<lv::tensor<float, 48>> | nn::dense<"fc", 13>(weights) | nn::top_k<2>);
  std::vector<lv::tensor<float, 48>> items;
  for (int i = 0; i < 6; ++i) items.push_back(*random_input<lv::tensor<float, 48>>());
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) CHECK(std::get<1>(*r) == std::get<1>(alone(items[next++])));
  CHECK(next == 6);

  auto bias = std::make_unique<lv::tensor<float, 13>>();
  bias->fill(0);
  (*bias)[11] = 1e6f;
  app.params<"head">().set<"bias">(*bias);
  for (auto&& r : app.stream(items)) CHECK(std::get<1>(*r)[0] == 11);
}

TEST_CASE("a stage of the user's takes a batch as a tensor; what it gives is no batch any more") {
  const auto app = lv::deploy<box>(
      lv::input<lv::tensor<float, 3>> | lv::batch<4> | nn::relu |
      lv::stage<"mean">(+[](const lv::tensor<float, 4, 3>& b) {
        lv::tensor<float, 4> mean;
        for (std::size_t i = 0; i < 4; ++i) mean[i] = (b(i, 0) + b(i, 1) + b(i, 2)) / 3;
        return mean;
      }) |
      nn::relu | lv::stage<"sum">(+[](const lv::tensor<float, 4>& t) { return t[0] + t[1] + t[2] + t[3]; }));
  std::vector<lv::tensor<float, 3>> items(4);
  for (auto& item : items) item.fill(2);
  for (auto&& r : app.stream(items)) CHECK(*r == 8);
}
