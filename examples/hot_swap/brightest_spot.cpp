// SPDX-License-Identifier: Apache-2.0
// The second detector: the brightest 3 x 3 pixels, in two stages.

#include "detector.hpp"

#include <levada/interop/pipeline_library.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

struct spots {
  int frame;
  lv::tensor<int, 1, 46, 62> sum;  ///< of the 3 x 3 pixels from here on
};

static void sum_spots(const frame& f, spots& s) {
  s.frame = f.number;
  for (int y = 0; y < 46; ++y)
    for (int x = 0; x < 62; ++x) {
      s.sum(0, y, x) = 0;
      for (int i = 0; i < 9; ++i) s.sum(0, y, x) += f.picture(0, y + i / 3, x + i % 3);
    }
}

static detection find_spot(const spots& s) {
  int best = 0;
  for (int i = 0; i < 46 * 62; ++i)
    if (s.sum(0, i / 62, i % 62) > s.sum(0, best / 62, best % 62)) best = i;
  return {s.frame, 2, best % 62 + 1, best / 62 + 1};
}

detector make_brightest_spot() {
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<frame> | lv::stage<"sum", spots>(sum_spots) |
                                            lv::stage<"find">(find_spot));
}
LEVADA_EXPORT_PIPELINE(make_brightest_spot);
