// SPDX-License-Identifier: Apache-2.0
// The first detector: the brightest pixel. A pixel of the sensor that is stuck fools it.

#include "detector.hpp"

#include <levada/interop/pipeline_library.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

static detection find_pixel(const frame& f) {
  detection best{f.number, 1, 0, 0};
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      if (f.picture(0, y, x) > f.picture(0, best.y, best.x)) best.x = x, best.y = y;
  return best;
}

detector make_brightest_pixel() {
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<frame> | lv::stage<"find">(find_pixel));
}
LEVADA_EXPORT_PIPELINE(make_brightest_pixel);
