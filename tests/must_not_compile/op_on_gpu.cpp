// SPDX-License-Identifier: Apache-2.0
// error: no_backend_takes_this_op_on_this_device
// place: "relu"
// place: vulkan<0>
//
// An op on a device without a backend that takes it.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<float, 4>> | lv::nn::relu;
#else
  auto p = lv::input<lv::tensor<float, 4>> | lv::on<lv::vulkan<0>>(lv::nn::relu);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
