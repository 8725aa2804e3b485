// SPDX-License-Identifier: Apache-2.0
// Branches of one item at once, under oneTBB.

#include <doctest/doctest.h>

#include <oneapi/tbb/task_arena.h>

#include <levada/run/detail/workers/tbb_executor.hpp>

#include <run/concurrent_branches.hpp>
#include <run/watchdog.hpp>

namespace run_concurrent_branches {

namespace lv = levada;
using namespace levada::test;

TEST_CASE("two branches of one item are at work at the same time") { branches_meet<lv::tbb_executor>(); }

TEST_CASE("with one thread they run in turn") { one_thread_runs_them_in_turn<lv::tbb_executor>(); }

TEST_CASE("branches take the input where it is, give where they are told, and end with items that are late") {
  branches_of_the_input<lv::tbb_executor>();
}

TEST_CASE("an item that fails in several branches fails as if they ran in turn, and leaves nothing behind") {
  branches_fail<lv::tbb_executor>();
}

TEST_CASE("branches end where their session is cancelled") { branches_are_cancelled<lv::tbb_executor>(); }

TEST_CASE("branches that no worker comes for are run by who waits") {
  oneapi::tbb::task_arena one(1);
  one.execute([] {
    const auto app = meeting_app<lv::tbb_executor, 2>();
    auto session = app.open();
    for (int i = 0; i < 50; ++i) {
      rendezvous::begun[0] = rendezvous::begun[1] = 0;
      session.push(5);
      CHECK(session.pop()->value() >= 1);
    }
  });
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::costs<branch_table>>(
      lv::input<int> |
          lv::fork(lv::stage<"left">(+[](const int& n) { return n; }),
                   lv::stage<"right">(+[](const int& n) { return 2 * n; })) |
          lv::join<"sum">(+[](const int& a, const int& b) { return a + b; }),
      lv::in_arena(one));
  static_assert(runs_at_once(app));
  auto session = app.open();
  for (int i = 0; i < 500; ++i) {
    session.push(i);
    CHECK(session.pop()->value() == 3 * i);
  }
}

}  // namespace run_concurrent_branches
