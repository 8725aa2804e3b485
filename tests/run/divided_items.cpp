// SPDX-License-Identifier: Apache-2.0
// Units of one item computed by several threads, under oneTBB.

#include <doctest/doctest.h>

#include <atomic>

#include <oneapi/tbb/task_arena.h>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include <run/divided_items.hpp>

namespace run_divided_items {

namespace lv = levada;
using namespace levada::test;

TEST_CASE("two threads compute parts of one call at the same time") { parts_meet_in_a_call<lv::tbb_executor>(); }

TEST_CASE("two threads compute parts of a lone item of a session") { parts_meet_in_a_session<lv::tbb_executor>(); }

TEST_CASE("of a lone item the units of branches are divided, where that is sooner") {
  const auto app = tiled_branches_app<lv::tbb_executor, 2>();
  static_assert(decltype(app)::plan.fork[0].order == lv::branch_order::at_once && decltype(app)::plan.fork[0].divided);
  parts_meet_in_a_session_of(app);
  parts_meet_in_a_call_of(app);
}

TEST_CASE("items with branches are computed, two of them in flight") {
  const auto app = tiled_branches_app<lv::tbb_executor, 4>();
  auto session = app.open();
  for (int n = 0; n < 200; n += 2) {
    session.push(tiled_input(n));
    session.push(tiled_input(n + 1));
    CHECK(is_computed(session.pop()->value(), n));
    CHECK(is_computed(session.pop()->value(), n + 1));
  }
}

TEST_CASE("with one thread nothing is divided") { one_thread_computes_the_whole<lv::tbb_executor>(); }

TEST_CASE("no more threads are in items of a stream and their parts than the processor has") {
  items_of_a_stream<lv::tbb_executor>();
}

TEST_CASE("calls and sessions at once give what one thread gives") { calls_and_sessions_at_once<lv::tbb_executor>(); }

TEST_CASE("an app may end before the workers come that it has invited") { apps_end_at_once<lv::tbb_executor>(); }

TEST_CASE("parts that no worker comes for are computed by the item's own thread") {
  oneapi::tbb::task_arena one(1);
  one.execute([] {
    const auto app = tiled_app<lv::tbb_executor, 2>();
    part_hook::reset(false);
    for (int n = 0; n < 50; ++n) CHECK(is_computed(app(tiled_input(n)), n));
  });
}

TEST_CASE("an item is not divided while others are in flight") {
  // A worker that keeps up with `push` would have each item alone: none goes on before all are in flight.
  std::atomic<bool> all_pushed{false};
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<tiled<part_hook>>, lv::slots<16>>(
      lv::input<tiled_item> | lv::stage<"hold">([&all_pushed](const tiled_item& x) {
        all_pushed.wait(false);
        return x;
      }) |
      lv::nn::relu | lv::nn::relu | lv::nn::relu);
  auto session = app.open();
  for (int round = 0; round < 20; ++round) {
    part_hook::reset(false);
    all_pushed = false;
    for (int n = 0; n < 10; ++n) session.push(tiled_input(n));
    all_pushed = true;
    all_pushed.notify_all();
    for (int n = 0; n < 10; ++n) CHECK(is_computed(session.pop()->value(), n));
    CHECK(part_hook::parts.load() >= 3 * 10);
    CHECK(part_hook::parts.load() <= 3 * 11);  // the last may be alone
  }
}

TEST_CASE("parts are computed where regions of another rate are, too") {
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<tiled<part_hook>>>(
      lv::input<tiled_item> | lv::stage<"same">([](const tiled_item& x) { return x; }) | lv::batch<1> | lv::unbatch |
      lv::nn::relu);
  parts_meet_in_a_session_of(app);
}

}  // namespace run_divided_items
