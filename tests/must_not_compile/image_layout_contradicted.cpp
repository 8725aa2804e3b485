// SPDX-License-Identifier: Apache-2.0
// error: stage_takes_another_order_of_axes_than_the_one_before_gives
// place: "cast"
// place: layout::hwc
// place: "small"
// place: layout::chw
//
// What to_rgb gives is interleaved, and a cast leaves that as it is.

#include <levada/levada.hpp>
#include <levada/ops.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  constexpr auto axes = lv::layout::hwc;
#else
  constexpr auto axes = lv::layout::chw;
#endif
  auto p = lv::input<lv::image_buffer<lv::pixel::bgr, 480, 640>> | lv::image::to_rgb<> | lv::nn::cast<float> |
           lv::split_here | lv::named<"small">(lv::image::resize<96, 96, axes>);
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
  while (auto r = session.pop()) static_cast<void>(r->has_value());
  return static_cast<int>(session.counts().pushed);
}
