// SPDX-License-Identifier: Apache-2.0
// Ops on tensors of which only the bound of the first axis is known: what they make of each part that is there.

#include "nn/direct.hpp"

#include <memory>
#include <string>
#include <vector>

#include <levada/backend/reference/ops.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;
namespace nn = levada::nn;
using namespace levada::testing;

namespace {

using box = lv::target<lv::cpu<2>>;
using crop = lv::tensor<float, 2, 8, 6>;
using crops = lv::bounded<crop, 5>;

lv::parameter_map made_weights() {
  lv::parameter_map weights;
  const auto set = [&]<class T>(const char* name, std::type_identity<T>) { weights.set(name, *random_input<T>()); };
  set("conv.weight", std::type_identity<lv::tensor<float, 3, 2, 3, 3>>());
  set("conv.bias", std::type_identity<lv::tensor<float, 3>>());
  set("fc.weight", std::type_identity<lv::tensor<float, 7, 36>>());
  set("fc.bias", std::type_identity<lv::tensor<float, 7>>());
  return weights;
}

/// Fused, in place, a view.
auto network(const lv::parameter_map& w) {
  return nn::conv2d<"conv", 3, lv::size<3>, lv::padding<1>>(w) | nn::relu | nn::max_pool2d<2> | nn::flatten |
         nn::dense<"fc", 7>(w) | nn::softmax;
}

}  // namespace

TEST_CASE("a network on as many parts as there are gives what it gives for each; memory is planned at the bound") {
  const auto weights = made_weights();
  const auto check = [&]<class Options>(std::type_identity<Options>) {
    const auto alone = lv::deploy<box, Options>(lv::input<crop> | network(weights));
    const auto all = lv::deploy<box, Options>(lv::input<crops> | (lv::input<crop> | network(weights)));
    using app = decltype(all);
    static_assert(app::plan.units == decltype(alone)::plan.units, "fused as for one");
    static_assert(app::plan.value[app::plan.graph.result].bytes == sizeof(lv::bounded<lv::tensor<float, 7>, 5>));

    std::vector<crops> items;
    for (std::size_t n = 0; n < 12; ++n) {
      items.emplace_back();
      for (std::size_t i = 0; i < n % 6; ++i) items.back().push_back(*random_input<crop>());
    }
    std::size_t at = 0;
    for (auto&& r : all.stream(items)) {
      const crops& item = items[at++];
      REQUIRE(r->size() == item.size());
      for (std::size_t i = 0; i < item.size(); ++i) CHECK((*r)[i] == alone(item[i]));
    }
    CHECK(at == items.size());
  };
  check(std::type_identity<lv::backends<lv::simd>>());
  check(std::type_identity<lv::backends<lv::reference>>());
}

TEST_CASE("parameters are replaced, parts are taken one by one behind, and a callable sees the bounded tensor") {
  const auto weights = made_weights();
  using vectors = lv::bounded<lv::tensor<float, 36>, 5>;
  const auto app = lv::deploy<box>(
      lv::input<vectors> | lv::params<"head">(nn::dense<"fc", 7>(weights)) |
      lv::for_each<5>(nn::relu | lv::stage<"largest">([](const lv::tensor<float, 7>& t) { return lv::argmax(t); })) |
      lv::collect | lv::stage<"sum">([](const auto& labels) {
        int sum = 0;
        for (const auto l : labels) sum += static_cast<int>(l);
        return sum;
      }));
  vectors item;
  for (int i = 0; i < 3; ++i) item.push_back(*random_input<lv::tensor<float, 36>>());
  lv::tensor<float, 7> bias;
  bias.fill(0);
  bias(4) = 1e6f;
  app.params<"head">().set<"bias">(bias);
  CHECK(app(item) == 12);
}
