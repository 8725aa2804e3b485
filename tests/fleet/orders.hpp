// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/orders.hpp: a pipeline whose part on a fleet does what its items say, and processes that work on it.

#include <doctest/doctest.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <levada/fleet/deploy.hpp>
#include <levada/fleet/work.hpp>
#include <levada/levada.hpp>

#include "fleet/nats_server.hpp"
#include "fleet/worker_processes.hpp"

namespace levada::test {

enum class act : int { nothing, fails, is_filtered, kills, sleeps };
struct order {
  int number = 0;
  act does = act::nothing;
};

using fleet_box = target<cpu<2>, fleet<"orders", cpu<2>>>;
using fleet_version = version<"1">;

inline auto orders() {
  return input<order> | on<fleet<"orders">>(stage<"work">([](const order& o) -> std::optional<int> {
           if (o.does == act::fails) throw std::runtime_error("no " + std::to_string(o.number));
           if (o.does == act::is_filtered) return std::nullopt;
           if (o.does == act::kills) ::kill(::getpid(), SIGKILL);
           if (o.does == act::sleeps) std::this_thread::sleep_for(std::chrono::milliseconds(10));
           return 2 * o.number;
         }));
}

inline const worker_program working{"LEVADA_TEST_WORKER_FOR", [](const std::string& url) {
                                      const fleet_worker works =
                                          work<fleet_box, "orders", fleet_version>(orders(), servers_of(url));
                                      for (;;) ::pause();
                                    }};
/// Whose workers keep what they have fetched, however long a busy machine leaves them out: no item is run twice.
inline jetstream with_long_lease(const nats_server& server) {
  jetstream to{{server.url()}};
  to.lease = std::chrono::minutes(5);
  return to;
}

inline process start_worker(const std::string& url) { return working.start(url); }

/// What came of a stream of orders: each is accounted for once, and results are in order.
struct tally {
  int delivered = 0, failed = 0, last = -1;
  bool in_order = true;
  std::vector<std::string> failures;

  template <class Popped>
  void add(const Popped& r) {
    if (!r.has_value()) {
      ++failed;
      failures.push_back(failure_of(r.error()));
      return;
    }
    ++delivered;
    in_order = in_order && *r > last && *r % 2 == 0;
    last = *r;
  }
};

/// Brings orders through, and calls `meanwhile(came)` behind each that comes.
template <class Make, class Meanwhile>
tally bring(const std::string& url, int count, Make make, Meanwhile meanwhile) {
  auto app = deploy<fleet_box, fleet_version>(orders(), servers_of(url));
  auto session = app.open<dedicated>();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(make(i));
    session.close();
  });
  tally came;
  std::chrono::duration<double> longest{0};
  for (auto before = std::chrono::steady_clock::now(); auto r = session.pop();) {
    came.add(*r);
    const auto now = std::chrono::steady_clock::now();
    if (came.delivered > 1) longest = std::max<std::chrono::duration<double>>(longest, now - before);
    before = now;
    meanwhile(came);
  }
  pusher.join();
  const auto counts = session.counts();
  CHECK(counts.pushed == static_cast<std::uint64_t>(count));
  CHECK(counts.pushed == counts.delivered + counts.failed + counts.filtered);
  CHECK(counts.delivered == static_cast<std::uint64_t>(came.delivered));
  CHECK(came.in_order);
  MESSAGE("the longest wait for a result: " << longest.count() << " s");
  return came;
}

}  // namespace levada::test
