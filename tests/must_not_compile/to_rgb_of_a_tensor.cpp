// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "to_rgb"
// place: tensor<unsigned char, 480, 640, 3>
// place: expects<
//
// A conversion of something whose pixel format nobody has named.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<lv::image_buffer<lv::pixel::bgr, 480, 640>> | lv::image::to_rgb<>;
#else
  auto p = lv::input<lv::tensor<unsigned char, 480, 640, 3>> | lv::image::to_rgb<>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
  while (auto r = session.pop()) static_cast<void>(r->has_value());
  return static_cast<int>(session.counts().pushed);
}
