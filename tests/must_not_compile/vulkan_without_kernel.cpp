// SPDX-License-Identifier: Apache-2.0
// error: no_backend_takes_this_op_on_this_device
// place: "average"
// place: vulkan<0>
//
// An op pinned to a Vulkan device for which the backend that comes with the device has no kernel: it does not compute
// doubles.

#include <levada/backend/spirv.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto average = lv::named<"average">(lv::nn::avg_pool2d<2>);
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<double, 1, 4, 4>> | average;
#else
  auto p = lv::input<lv::tensor<double, 1, 4, 4>> | lv::on<lv::vulkan<0>>(average);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>>>(p);
  auto session = app.open();
  auto results = session.counts();
  static_assert(decltype(app)::plan.segments >= 1);
  return static_cast<int>(results.pushed);
}
