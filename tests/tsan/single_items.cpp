// SPDX-License-Identifier: Apache-2.0
// Single items run by the thread that pops, beside pushers, cancels and those that look on: run/single_items.hpp.

#include <run/single_items.hpp>

#include <levada/run/detail/workers/thread_executor.hpp>

namespace lv = levada;
using namespace levada::test;

TEST_CASE("single items share nothing unguarded with who pushes, cancels and looks on") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::run_by<lv::thread_executor>>(single_item_pipeline());
  CHECK(wrong_with_a_pusher(app, 5'000) == 0);
  CHECK(wrong_with_a_pusher(
            lv::deploy<lv::target<lv::cpu<4>>, lv::slots<2>, lv::run_by<lv::thread_executor>>(single_item_pipeline()),
            5'000) == 0);
  CHECK(wrong_with_a_pusher<unordered_reference>(
            lv::deploy<lv::target<lv::cpu<4>>, lv::slots<2>, lv::run_by<lv::thread_executor>>(unordered_pipeline()),
            5'000) == 0);
  for (std::uint64_t after = 0; after < 400; after += 40) CHECK(wrong_until_cancelled(app, after) == 0);
  CHECK(wrong_while_watched(app, 2'000) == 0);
  CHECK(wrong_with_a_late_helper(app, 50) == 0);
  CHECK(wrong_from_hand_to_hand(app, 100) == 0);
  crowd in;
  CHECK(wrong_beside_other_sessions(
            lv::deploy<lv::target<lv::cpu<1>>, lv::run_by<lv::thread_executor>>(counted_pipeline(in)), 1'000) == 0);
  CHECK(in.most.load() == 1);
}
