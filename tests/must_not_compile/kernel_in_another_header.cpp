// SPDX-License-Identifier: Apache-2.0
// error: no_backend_takes_this_op_on_this_device
// place: "up"
// place: more_kernels_in<
// place: levada/ops.hpp
//
// levada.hpp declares the op; its kernel is in ops.hpp.

#include <levada/graph/parameter_map.hpp>
#include <levada/levada.hpp>
#ifdef LEVADA_CORRECT
#include <levada/ops.hpp>
#endif

namespace lv = levada;

int main() {
  const lv::parameter_map w;
  auto p = lv::input<lv::tensor<float, 2, 4, 4>> | lv::nn::conv_transpose2d<"up", 1, lv::size<2>, lv::stride<2>>(w);
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
  while (auto r = session.pop()) static_cast<void>(r->has_value());
  return static_cast<int>(session.counts().pushed);
}
