// SPDX-License-Identifier: Apache-2.0
// error: pipeline_that_changes_its_rate_is_streamed_or_pushed_to_not_called
//
// As many items leave as come in, but the first of them waits for the second.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | lv::repeat<2> | lv::downsample<2>;
#else
  auto p = lv::input<int> | lv::batch<2> | lv::unbatch;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  return app(1);
}
