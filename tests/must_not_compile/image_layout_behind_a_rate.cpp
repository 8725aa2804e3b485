// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_another_order_of_axes_than_the_one_before_gives
// place: "downsample"
// place: layout::hwc
// place: "resize"
// place: layout::chw
//
// Every second picture is as interleaved as all are.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  constexpr auto axes = lv::layout::hwc;
#else
  constexpr auto axes = lv::layout::chw;
#endif
  auto p = lv::input<lv::image_buffer<lv::pixel::bgr, 48, 64>> | lv::image::to_rgb<> | lv::downsample<2> |
           lv::image::resize<24, 24, axes>;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  return static_cast<int>(session.counts().pushed);
}
