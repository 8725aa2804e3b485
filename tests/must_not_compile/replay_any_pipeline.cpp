// SPDX-License-Identifier: Apache-2.0
// error: recording_is_replayed_through_an_app_in_the_time_of_its_clock_and_through_nothing_else
// place: any_pipeline<int
//
// An any_pipeline has no sessions in the time of a clock.

#include <levada/interop/recording.hpp>
#include <levada/levada.hpp>
#include <levada/run/any_pipeline.hpp>

namespace lv = levada;

int main() {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>>(lv::input<int> | lv::stage<"a">([](const int& x) { return x; }));
  const auto use = [](const lv::result<int>&, const lv::item_envelope&) {};
  lv::recording<int> from("drive.rec");
#ifdef LEVADA_CORRECT
  lv::replay(from, app, use);
#else
  const lv::any_pipeline<int(int)> any = app;
  lv::replay(from, any, use);
#endif
}
