// SPDX-License-Identifier: Apache-2.0
// A pipeline in a shared library.

#include <levada/interop/pipeline_library.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

static lv::any_pipeline<int(int)> make_thrice() {
  return lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"thrice">([](const int& i) { return 3 * i; }));
}
LEVADA_EXPORT_PIPELINE(make_thrice);
