// SPDX-License-Identifier: Apache-2.0
// error: no_backend_takes_this_op_on_this_device
// place: "average"
//
// A deployment that is to fall back to the processor, which has no backend here for an op.

#include <levada/backend/spirv/ops.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<lv::tensor<float, 1, 4, 4>> | lv::on<lv::vulkan<0>>(lv::named<"average">(lv::nn::avg_pool2d<2>));
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>>, lv::cpu_fallback>(p);
#else
  using device_alone = lv::backends<lv::spirv>;
  auto app = lv::deploy<lv::target<lv::cpu<2>, lv::vulkan<0>>, lv::cpu_fallback, device_alone>(p);
#endif
  auto session = app.open();
  auto results = session.counts();
  return static_cast<int>(results.pushed);
}
