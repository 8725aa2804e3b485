// SPDX-License-Identifier: Apache-2.0
// error: cpu_takes_a_maximum_an_affinity_and_an_l2_each_once
// place: cpu<2
//
// A processor with two sizes of its cache.

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  auto p = lv::input<int> | lv::stage<"twice">([](const int& i) { return 2 * i; });
#ifdef LEVADA_CORRECT
  auto app = lv::deploy<lv::target<lv::cpu<2, lv::l2<1_MiB>>>>(p);
#else
  auto app = lv::deploy<lv::target<lv::cpu<2, lv::l2<1_MiB>, lv::l2<2_MiB>>>>(p);
#endif
  return app(1);
}
