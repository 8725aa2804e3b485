// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_another_order_of_axes_than_the_one_before_gives
// place: "add"
// place: layout::hwc
// place: "max_pool2d"
// place: layout::chw
//
// The sum of two interleaved pictures is one.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  const auto planes = lv::image::to_chw;
#else
  const auto planes = lv::nn::cast<float>;
#endif
  auto p = lv::input<lv::image_buffer<lv::pixel::bgr, 48, 64>> | lv::image::to_rgb<> | planes |
           lv::residual(lv::nn::relu) | lv::nn::max_pool2d<2>;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  return static_cast<int>(session.counts().pushed);
}
