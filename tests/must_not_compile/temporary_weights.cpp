// SPDX-License-Identifier: Apache-2.0
// error: weights_have_to_outlive_deploy_give_them_a_name
// place: "fc"
//
// Weights that are gone before deploy reads them.

#include <optional>
#include <string_view>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

struct ones {
  std::vector<float> values = std::vector<float>(64, 1.0f);
  std::optional<lv::stored_tensor> find(std::string_view name) const {
    const lv::shape extents = name == "fc.bias" ? lv::shape(8) : lv::shape(8, 8);
    return lv::stored_tensor{lv::element::f32, extents, values.data()};
  }
};

using vector = lv::tensor<float, 8>;

int main() {
  const ones weights;
#ifdef LEVADA_CORRECT
  auto p = lv::input<vector> | lv::nn::dense<"fc", 8>(weights);
#else
  auto p = lv::input<vector> | lv::nn::dense<"fc", 8>(ones{});
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<vector> items(3);
  auto sum = app(items[0])[0];
  for (auto&& r : app.stream(items)) sum += r.value()[0];
  auto session = app.open();
  session.push(items[0]);
  return static_cast<int>(sum + session.pop()->value()[0]);
}
