// SPDX-License-Identifier: Apache-2.0
// error: weights_have_to_outlive_deploy_give_them_a_name
// place: "renamed"
// place: parameter_map
//
// Other names of weights that are gone.

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  lv::parameter_map map;
#ifdef LEVADA_CORRECT
  const auto weights = lv::renamed(map, {{"fc", "head"}});
#else
  const auto weights = lv::renamed(std::move(map), {{"fc", "head"}});
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<lv::tensor<float, 4>> | lv::nn::dense<"fc", 2>(weights));
  static_assert(decltype(app)::plan.slots > 0);
}
