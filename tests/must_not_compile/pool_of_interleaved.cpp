// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_another_order_of_axes_than_the_one_before_gives
// place: "cast"
// place: layout::hwc
// place: "global_avg_pool2d"
// place: layout::chw
//
// The mean of each plane, of a picture whose channels are interleaved.

#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

int main() {
  const auto rgb = lv::input<lv::image_buffer<lv::pixel::bgr, 48, 64>> | lv::image::to_rgb<>;
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(rgb | lv::image::to_chw | lv::nn::global_avg_pool2d);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(rgb | lv::nn::cast<float> | lv::nn::global_avg_pool2d);
#endif
  auto session = app.open();
  while (auto r = session.pop()) static_cast<void>(r->has_value());
  return static_cast<int>(session.counts().pushed);
}
