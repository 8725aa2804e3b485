// SPDX-License-Identifier: Apache-2.0
// error: tolerance_of_this_time_join_is_below_what_its_paces_can_meet
// place: "frame"
// place: "33 ms"
// place: "gyro"
// place: "20 ms"
// place: tolerance_is<
// place: "5 ms"
// place: tolerance_needed<
// place: "9.5 ms"
//
// However two clocks stand to each other, some frames have no partner so near.

#include <levada/graph/sync.hpp>
#include <levada/levada.hpp>
#include <levada/run/promises.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
#ifdef LEVADA_CORRECT
  auto p = lv::sync_by_time<lv::tolerance<10_ms>>(lv::port<"frame", int, lv::every<33_ms>>,
                                                  lv::port<"gyro", int, lv::every<20_ms>>) |
           lv::stage<"fuse">([](const auto& in) { return in.template get<"gyro">(); });
#else
  auto p = lv::sync_by_time<lv::tolerance<5_ms>>(lv::port<"frame", int, lv::every<33_ms>>,
                                                 lv::port<"gyro", int, lv::every<20_ms>>) |
           lv::stage<"fuse">([](const auto& in) { return in.template get<"gyro">(); });
#endif
  auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::estimates_count>(p);
  return static_cast<int>(app.open().counts().pushed);
}
