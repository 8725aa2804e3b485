// SPDX-License-Identifier: Apache-2.0
// error: neighbours share their chroma: yuyv needs an even width, nv12 an even width and height
// place: image_view<levada::pixel::nv12, 480, 641>
//
// A 4:2:0 picture of an odd width: nobody knows the chroma of its last column.

#include <levada/levada.hpp>

namespace lv = levada;

#ifdef LEVADA_CORRECT
using frame = lv::image_buffer<lv::pixel::nv12, 480, 640>;
#else
using frame = lv::image_buffer<lv::pixel::nv12, 480, 641>;
#endif

constexpr unsigned char bytes[1]{};

int main() {
  auto p = lv::input<frame> | lv::image::to_rgb<> | lv::image::to_chw;
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  static_assert(decltype(app)::plan.slots > 0);
  auto session = app.open();
  session.push(frame(
      {{bytes, 704}, {bytes, 704}}, [](void*, const auto&) noexcept {}, nullptr));
  while (auto r = session.pop()) static_cast<void>(r->has_value());
  return static_cast<int>(session.counts().pushed);
}
