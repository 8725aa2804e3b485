// SPDX-License-Identifier: Apache-2.0
// error: replay_hands_out_results_and_has_no_memory_of_the_caller_for_them
// place: <int>
//
// A replay pushes by itself: nobody says where a result would go.

#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  const auto use = [](const lv::result<int>&, const lv::item_envelope&) {};
  lv::recording<int> from("drive.rec");
#ifdef LEVADA_CORRECT
  lv::replay(from, app, use);
#else
  lv::replay<lv::external_results>(from, app, use);
#endif
}
