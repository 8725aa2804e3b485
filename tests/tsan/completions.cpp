// SPDX-License-Identifier: Apache-2.0
// The completions of run/completing.hpp, and failures in streams and sessions, on plain threads, for ThreadSanitizer.

#include <doctest/doctest.h>
#include <levada/run/detail/workers/thread_executor.hpp>

#include <run/completing.hpp>

namespace lv = levada;

TEST_CASE("no race between pushers, workers, the completion thread and those who are completed") {
  lv::test::completions<lv::thread_executor>(300);
}

TEST_CASE("no race between on_error, workers and the popper") {
  using namespace lv::test;
  const auto app = lv::deploy<lv::target<lv::cpu<3>>, lv::run_by<lv::thread_executor>>(failing_sum<told_sum>());
  const expectation expected = expected_of<told_sum>(2'000);
  auto session = app.open();
  std::atomic<int> heard{0};
  session.on_error([&](std::uint64_t, const std::exception_ptr&) noexcept { ++heard; });
  std::thread pusher([&] {
    for (int i = 0; i < 2'000; ++i) session.push(i);
    session.close();
  });
  in_order check(expected);
  while (auto r = session.pop()) check(*r);
  pusher.join();
  check.at_end();
  CHECK(heard == expected.failed);
}
