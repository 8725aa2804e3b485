// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_features_along_the_last_axis_flatten_the_picture_before_it
// place: "pool"
// place: "fc"
// place: tensor<float, 3, 4, 4>
//
// A dense layer of a picture that is not flat: it would compute along its columns.

#include <optional>
#include <string_view>
#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

struct no_source {
  std::optional<lv::stored_tensor> find(std::string_view) const { return {}; }
};

int main() {
  const no_source weights;
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::named<"pool">(lv::nn::max_pool2d<2>) | lv::nn::flatten |
           lv::nn::dense<"fc", 4>(weights);
#else
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::named<"pool">(lv::nn::max_pool2d<2>) |
           lv::nn::dense<"fc", 4>(weights);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  const std::vector<lv::tensor<float, 3, 8, 8>> items(3);
  auto first = app(items[0]);
  for (auto&& r : app.stream(items)) first = r.value();
  auto session = app.open();
  session.push(items[0]);
  return first == session.pop()->value() ? 0 : 1;
}
