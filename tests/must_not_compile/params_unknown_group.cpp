// SPDX-License-Identifier: Apache-2.0
// error: pipeline_has_no_parameters_of_that_name
// place: "head"
//
// Re-enacts "an unknown parameter group".

#include <levada/levada.hpp>

namespace lv = levada;

using pair = lv::tensor<float, 2>;
const auto clip = [](const pair& v, const float& most) { return v[0] < most ? v[0] : most; };

int main() {
  auto p = lv::input<pair> | lv::params<"cut">(lv::stage<"a">(lv::adjustable<"most">(clip, 1.0f)));
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
#ifdef LEVADA_CORRECT
  app.params<"cut">().set<"most">(2.0f);
#else
  app.params<"head">();
#endif
  return static_cast<int>(app(pair{}));
}
