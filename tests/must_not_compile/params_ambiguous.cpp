// SPDX-License-Identifier: Apache-2.0
// error: group_has_several_parameters_of_that_name_write_the_stage_and_a_dot_before_it
// place: "most"
//
// Two stages of the group have a setting of that name.

#include <levada/levada.hpp>

namespace lv = levada;

const auto clip = [](const float& v, const float& most) { return v < most ? v : most; };

int main() {
  auto p = lv::input<float> | lv::params<"cut">(lv::stage<"a">(lv::adjustable<"most">(clip, 1.0f)) |
                                                lv::stage<"b">(lv::adjustable<"most">(clip, 1.0f)));
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
#ifdef LEVADA_CORRECT
  app.params<"cut">().set<"a.most">(2.0f);
#else
  app.params<"cut">().set<"most">(2.0f);
#endif
  return static_cast<int>(app(1.0f));
}
