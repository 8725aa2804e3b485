// SPDX-License-Identifier: Apache-2.0
// Ops behind `batch<N>`: what they make of a batch is what they make of each of its items.

#include "nn/direct.hpp"

#include <concepts>
#include <memory>
#include <type_traits>
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

/// What a part makes of batches is what it makes of each item; the last batch has fewer.
template <class In, std::size_t N, class... Options, class Part>
void check_in_batches(const Part& part, double tolerance = 0) {
  const auto alone = lv::deploy<box, Options...>(lv::input<In> | part);
  const auto together = lv::deploy<box, Options...>(lv::input<In> | lv::batch<N> | part | lv::unbatch);
  for (const std::size_t count : {std::size_t{1}, N, 2 * N + 1}) {
    std::vector<In> items(count);
    for (In& item : items) fill_randomly(item);
    std::size_t next = 0;
    for (auto&& r : together.stream(items)) {
      const on_heap<typename decltype(alone)::output> expected(alone(items[next++]));
      check_difference(largest_difference(*expected, *r), tolerance, __PRETTY_FUNCTION__);
    }
    CHECK(next == count);
  }
}

}  // namespace

TEST_CASE("a network on batches gives what it gives item by item") {
  const auto weights = made_weights();
  check_in_batches<picture, 5, lv::backends<lv::simd>>(network(weights), 1e-5);
  check_in_batches<picture, 5, lv::backends<lv::reference>>(network(weights), 1e-5);
}

TEST_CASE("a graph takes batches of what its ports declare, wherever it stands") {
  using row = lv::tensor<float, 3 * 9 * 7>;
  const auto inner = lv::graph(lv::port<"x", picture>, lv::node<"a", "x">(nn::relu), lv::node<"b", "x">(nn::sigmoid),
                               lv::output<"a", "a">, lv::output<"b", "b">);
  const auto ports = lv::graph(lv::port<"x", picture>, lv::port<"flat", row>, lv::node<"f", "x">(nn::flatten),
                               lv::node<"sum", "f", "flat">(nn::add), lv::output<"y", "sum">);
  const auto outer = lv::graph(lv::port<"x", picture>, lv::node<"inner", "x">(nn::relu | inner),
                               lv::node<"sum", "inner.a", "inner.b">(nn::add), lv::node<"flat", "sum">(nn::flatten),
                               lv::node<"ports", "inner.b", "flat">(ports), lv::output<"y", "ports">);
  const auto line = lv::input<picture> | nn::relu;
  check_in_batches<picture, 2>(lv::on<lv::cpu<2>>(line) | lv::residual(line) |
                               lv::fork(lv::params<"outer">(outer), inner | nn::add | nn::flatten) | nn::add);

  using outputs = decltype(lv::deploy<box>(lv::input<picture> | lv::batch<2> | inner))::output;
  using pictures = lv::batch_tensor<picture, 2>;
  static_assert(std::same_as<outputs, lv::named_items<lv::named_item<"a", pictures>, lv::named_item<"b", pictures>>>);
}

TEST_CASE("a graph whose nodes change their rate takes a batch") {
  const auto app = lv::deploy<box>(lv::input<picture> | lv::batch<2> |
                                   lv::graph(lv::port<"x", picture>, lv::node<"a", "x">(nn::relu | lv::unbatch),
                                             lv::node<"b", "x">(lv::unbatch), lv::node<"sum", "a", "b">(nn::add),
                                             lv::output<"y", "sum">));
  std::vector<picture> items(4);
  for (picture& item : items) fill_randomly(item);
  std::size_t next = 0;
  for (auto&& r : app.stream(items)) {
    const picture& item = items[next++];
    for (std::size_t i = 0; i < item.size(); ++i) CHECK((*r)[i] == (item[i] < 0 ? item[i] : 2 * item[i]));
  }
  CHECK(next == 4);
}

TEST_CASE("each output of an op is a batch") {
  lv::parameter_map weights;
  const auto set = [&]<class T>(const char* name, std::type_identity<T>) { weights.set(name, *random_input<T>()); };
  set("lstm.weight", std::type_identity<lv::tensor<float, 1, 20, 3>>());
  set("lstm.recurrence", std::type_identity<lv::tensor<float, 1, 20, 5>>());
  set("lstm.bias", std::type_identity<lv::tensor<float, 1, 40>>());
  set("gru.weight", std::type_identity<lv::tensor<float, 1, 15, 3>>());
  set("gru.recurrence", std::type_identity<lv::tensor<float, 1, 15, 5>>());
  set("gru.bias", std::type_identity<lv::tensor<float, 1, 30>>());
  using steps = lv::tensor<float, 4, 3>;
  check_in_batches<steps, 2>(nn::split<0, 1, 3> | nn::part<1> | nn::top_k<2> | nn::part<0> | nn::relu);
  check_in_batches<steps, 2>(
      lv::fork(nn::lstm_sequence<"lstm", 5>(weights) | lv::fork(nn::part<1>, nn::part<2>) | nn::add,
               nn::gru_sequence<"gru", 5>(weights) | nn::part<1>) |
      nn::add);
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
