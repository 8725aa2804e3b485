// SPDX-License-Identifier: Apache-2.0
// error: sync_by_time_takes_each_option_once
// place: tolerance
//
// Two tolerances would be added up.

#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  const auto both = lv::sync_by_time<lv::tolerance<2_ms>, lv::stall<9_ms>>(lv::port<"a", int>, lv::port<"b", float>);
#else
  const auto both =
      lv::sync_by_time<lv::tolerance<2_ms>, lv::tolerance<9_ms>>(lv::port<"a", int>, lv::port<"b", float>);
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>>(both | lv::stage<"one">([](const auto&) { return 1; }));
  auto session = app.open();
  return static_cast<int>(session.counts().pushed);
}
