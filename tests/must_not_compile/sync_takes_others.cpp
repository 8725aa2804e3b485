// SPDX-License-Identifier: Apache-2.0
// error: stage_cannot_take_what_the_one_before_gives
// place: "fuse"
// place: gives<levada::named_items<levada::named_item<
//
// What meets by time is shown as a stage writes it, without the rule by which it met.

#include <levada/levada.hpp>

namespace lv = levada;
using namespace lv::literals;

int main() {
  const auto ports = lv::sync_by_time<lv::tolerance<20_ms>>(lv::port<"frame", int>, lv::held(lv::port<"imu", float>));
#ifdef LEVADA_CORRECT
  using met = lv::named_items<lv::named_item<"frame", int>, lv::named_item<"imu", float>>;
#else
  using met = lv::named_items<lv::named_item<"frame", int>, lv::named_item<"imu", double>>;
#endif
  auto app =
      lv::deploy<lv::target<lv::cpu<2>>>(ports | lv::stage<"fuse">([](const met& in) { return in.get<"frame">(); }));
  static_assert(decltype(app)::plan.segments == 1);
}
