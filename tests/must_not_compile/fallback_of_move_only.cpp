// SPDX-License-Identifier: Apache-2.0
// error: cpu_fallback_deploys_a_copy_of_a_pipeline_that_cannot_be_copied
//
// The pipeline is deployed once more where a device is not there.

#include <memory>
#include <utility>

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  auto p = lv::input<int> | lv::stage<"add">([k = std::make_unique<int>(3)](const int& v) { return v + *k; });
#ifdef LEVADA_CORRECT
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(std::move(p));
#else
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::cpu_fallback>(std::move(p));
#endif
  return app(1);
}
