// SPDX-License-Identifier: Apache-2.0
// error: pipeline_takes_another_item
// place: wants<int>
// place: gives<float>
//
// A recording is replayed as what it was written as: a conversion would change items unseen.

#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  const auto use = [](const lv::result<int>&, const lv::item_envelope&) {};
#ifdef LEVADA_CORRECT
  lv::recording<int> from("drive.rec");
#else
  lv::recording<float> from("drive.rec");
#endif
  lv::replay(from, app, use);
}
