// SPDX-License-Identifier: Apache-2.0
// error: no_backend_takes_this_op_on_this_device
// place: "relu"
//
// An op and no backend at all.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::stage<"same">([](int v) { return v; });
#else
  auto p = lv::input<lv::tensor<float, 4>> | lv::nn::relu;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
