// SPDX-License-Identifier: Apache-2.0
// error: stage_reads_side_data_that_no_stage_before_it_attached
// place: "boxes"
//
// Side data are there behind the stage that attaches them, not before it.

#include <levada/levada.hpp>

namespace lv = levada;

struct letterbox {
  float scale;
};

int main() {
  auto reads = lv::stage<"boxes">([](const int& x, const letterbox& b) { return b.scale > 0 ? x : 0; });
  auto attaches = lv::stage<"fit">([](const int& x, letterbox& b) { return b.scale = 1, x; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | attaches | reads);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | reads | attaches);
#endif
  return app(1);
}
