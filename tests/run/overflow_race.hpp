// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/overflow_race.hpp: a pusher that is far too fast against a popper, for every executor.

#include <cstdint>
#include <thread>
#include <utility>

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>

#include "items.hpp"

namespace levada::test {

inline void check_account(const item_counts& c) {
  CHECK(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled + c.in_flight);
  CHECK(c.dropped == c.drops.sum());
  CHECK(c.in_flight == 0);
}

inline auto two_stages() {
  return input<tracked<0>> | stage<"a">(parallel([](tracked<0>&& t) { return std::move(t); })) |
         stage<"b">(serial([](tracked<0>&& t) { return std::move(t); }));
}

/// A pusher that is far too fast, a popper, and the account: nothing lost, nothing twice, in order.
template <class... Options, class App>
void race(const App& app, int count) {
  const nothing_leaks guard;
  auto session = app.template open<Options...>();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) {
      session.push(tracked<0>(i));
      if (i % (count / 64) == 0) std::this_thread::yield();  // each takes some time slices on a busy machine
    }
    session.close();
  });
  int last = -1, got = 0, wrong = 0;
  item_envelope envelope;
  while (auto r = session.pop(envelope)) {
    const int value = r->value().checked();
    wrong += value <= last || envelope.sequence != static_cast<std::uint64_t>(value);
    last = value;
    ++got;
  }
  pusher.join();
  CHECK(wrong == 0);
  const item_counts c = session.counts();
  CHECK(c.pushed == static_cast<std::uint64_t>(count));
  CHECK(c.delivered == static_cast<std::uint64_t>(got));
  check_account(c);
}

}  // namespace levada::test
