// SPDX-License-Identifier: Apache-2.0
// error: image_op_has_to_be_told_the_order_of_axes_hwc_or_chw
// place: "resize"
// place: tensor<unsigned char, 480, 640, 3>
// place: resize<..., layout::hwc>
//
// A picture whose axes nobody has named: as planes it would be 480 channels of 640 x 3.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::tensor<unsigned char, 480, 640, 3>> | lv::image::resize<96, 96, lv::layout::hwc> |
           lv::image::to_chw | lv::stage<"mean">([](const lv::tensor<float, 3, 96, 96>& x) { return x(0, 0, 0); });
#else
  auto p = lv::input<lv::tensor<unsigned char, 480, 640, 3>> | lv::image::resize<96, 96> | lv::image::to_chw |
           lv::stage<"mean">([](const lv::tensor<float, 3, 96, 96>& x) { return x(0, 0, 0); });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
  while (auto r = session.pop()) static_cast<void>(r->has_value());
  return static_cast<int>(session.counts().pushed);
}
