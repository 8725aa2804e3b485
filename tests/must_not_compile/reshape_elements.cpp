// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "reshape"
// place: tensor<float, 3, 8, 8>
// place: expects<
//
// A shape of another number of elements.

#include <vector>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::relu | lv::nn::reshape<3, 64>;
#else
  auto p = lv::input<lv::tensor<float, 3, 8, 8>> | lv::nn::relu | lv::nn::reshape<3, 60>;
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
