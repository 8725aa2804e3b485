// SPDX-License-Identifier: Apache-2.0
// error: parameter_is_of_another_type_or_shape
// place: "most"
// place: gives<double>,
// place: wants<float>
//
// A setting of float is given a double.

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
  app.params<"cut">().set<"most">(2.0);
#endif
  return static_cast<int>(app(pair{}));
}
