// SPDX-License-Identifier: Apache-2.0
// A session that is cancelled while a grain of many items runs: the items behind the one that runs are given up.

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/graph/detail/batch.hpp>
#include <levada/graph/detail/fork.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/deploy/rated_fork.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

#include "items.hpp"

namespace run_cancelling {

namespace lv = levada;
using namespace lv::literals;
using namespace lv::test;

constexpr int last = -1;
constexpr int together = 32;

/// Calls something when the last item comes, and counts the items that come behind that.
struct ending {
  std::function<void()> end = [] {};
  bool has_ended = false;
  int behind = 0;

  void come(int v) {
    if (has_ended) ++behind;
    if (v == last) {
      has_ended = true;
      end();
    }
  }
};

/// Pushes one grain, of which the first item ends the session, and pops what comes. A worker may come to that item at
/// once: it ends the session when all are there.
template <class Session>
void end_in_a_grain(Session& session, ending& at) {
  std::atomic<bool> all_there{false};
  at.end = [&] {
    while (!all_there) std::this_thread::yield();
    session.cancel();
  };
  session.push(last);
  for (int i = 1; i < together; ++i) session.push(i);
  all_there = true;
  while (session.pop()) {
  }
}

/// Items are found to be short, so that the next come as one grain; of these the first ends the session.
template <class Session>
void run_to_its_end(Session& session, ending& at) {
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < together; ++i) session.push(i);
    for (int i = 0; i < together; ++i) session.pop();
  }
  end_in_a_grain(session, at);
  CHECK(at.has_ended);
  CHECK(at.behind == 0);
  const lv::item_counts counts = session.counts();
  CHECK(counts.delivered + counts.cancelled == counts.pushed);
  CHECK(counts.cancelled >= together - 1);
}

using one = lv::target<lv::cpu<1>>;

TEST_CASE("cancel stops between the items of a grain, whatever runs them") {
  ending at;
  SUBCASE("callables as one loop") {
    const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"come">([&](const int& v) { return at.come(v), v; }) |
                                     lv::stage<"twice">([](const int& v) { return 2 * v; }));
    auto session = app.open();
    run_to_its_end(session, at);
  }
  SUBCASE("a callable of items that are more than their bytes") {
    const nothing_leaks guard;
    const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"make">([](const int& v) { return tracked<0>(v); }) |
                                     lv::stage<"come">([&](tracked<0>&& t) {
                                       at.come(t.checked());
                                       return std::move(t);
                                     }) |
                                     lv::stage<"value">([](const tracked<0>& t) { return t.checked(); }));
    auto session = app.open();
    run_to_its_end(session, at);
  }
  SUBCASE("a filter") {
    const auto app =
        lv::deploy<one>(lv::input<int> | lv::stage<"come">([&](const int& v) { return at.come(v), std::optional(v); }));
    auto session = app.open();
    run_to_its_end(session, at);
  }
  SUBCASE("a join of branches") {
    const auto app = lv::deploy<one>(lv::input<int> |
                                     lv::fork(lv::identity, lv::stage<"twice">([](const int& v) { return 2 * v; })) |
                                     lv::join<"come">([&](const int& a, const int& b) { return at.come(a), a + b; }));
    auto session = app.open();
    run_to_its_end(session, at);
  }
  SUBCASE("items that are looked at one by one") {
    const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"come">([&](const int& v) { return at.come(v), v; }));
    auto session = app.open<lv::deadline<3600_s>>();
    run_to_its_end(session, at);
  }
}

TEST_CASE("a stage is told of each item that was given up between those of its grain") {
  struct told {
    ending* at;
    int missing = 0;
    int operator()(const int& v) { return at->come(v), v; }
    void missed(lv::missing why) noexcept {
      if (why == lv::missing::cancelled) ++at->behind;
    }
  };
  ending at;
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"told">(told{&at}));
  auto session = app.open();
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < together; ++i) session.push(i);
    for (int i = 0; i < together; ++i) session.pop();
  }
  end_in_a_grain(session, at);
  CHECK(at.behind == together - 1);
  CHECK(session.counts().cancelled == together - 1);
}

TEST_CASE("a stream that is stopped ends between the items of a grain that its owner has in a row") {
  std::stop_source stop;
  ending at;
  at.end = [&] { stop.request_stop(); };
  const auto app = lv::deploy<one>(lv::input<int> | lv::stage<"come">([&](const int& v) { return at.come(v), v; }));
  std::vector<int> items(20'000);
  items[10'000] = last;
  std::size_t given = 0;
  for (auto& r : app.stream(items, stop.get_token())) given += r.has_value() ? 1 : 0;
  CHECK(at.has_ended);
  CHECK(at.behind == 0);
  CHECK(given <= 10'001);
}

TEST_CASE("cancel stops between the items that a change of the rate carries") {
  ending at;
  const auto app = lv::deploy<one>(
      lv::input<int> | lv::stage<"same">([](const int& v) { return v; }) |
      lv::fork(lv::stage<"come">([&](const int& v) { return at.come(v), v; }) | lv::batch<2>, lv::batch<2>) |
      lv::join<"first">([](const std::array<int, 2>& a, const std::array<int, 2>&) { return a[0]; }));
  auto session = app.open();
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < together; ++i) session.push(i);
    for (int i = 0; i < together / 2; ++i) session.pop();
  }
  end_in_a_grain(session, at);
  CHECK(at.has_ended);
  CHECK(at.behind == 0);
  CHECK(session.is_over());
  for (std::size_t r = 0; r < session.regions(); ++r) {
    const lv::item_counts c = session.counts(r);
    CHECK(c.in_flight == 0);
    CHECK(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled);
  }
}

}  // namespace run_cancelling
