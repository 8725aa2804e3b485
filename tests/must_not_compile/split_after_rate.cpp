// SPDX-License-Identifier: Apache-2.0
// error: split_after_counts_no_stages_where_the_rate_changes_write_split_here
//
// Stages are counted in a pipeline of one rate.

#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto one = lv::stage<"one">([](const int& a) { return a + 1; });
#ifdef LEVADA_CORRECT
  auto p = lv::input<int> | one | lv::split_here | one | lv::downsample<2>;
#else
  auto p = lv::input<int> | lv::split_after<0> | one | one | lv::downsample<2>;
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(p);
  auto session = app.open();
  session.push(1);
  return static_cast<int>(session.counts().pushed);
}
