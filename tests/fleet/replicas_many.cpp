// SPDX-License-Identifier: Apache-2.0
// Three servers that keep everything three times, of which the one that leads is killed again and again.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "fleet/nats_cluster.hpp"
#include "fleet/orders.hpp"
#include "soak.hpp"

using namespace levada::test;
using namespace std::chrono_literals;

TEST_CASE("the server that leads is killed and comes again: nothing is lost, and order holds") {
  if (!has_nats_server()) return;
  nats_cluster servers;
  const process first = start_worker(servers.urls()), second = start_worker(servers.urls());
  const std::string items = levada::detail::fleet_names("orders", 0).items_stream;
  std::atomic<bool> has_begun{false};  // who deploys needs a leader
  int kills = 0;
  std::jthread fate([&](const std::stop_token& ends) {
    while (!ends.stop_requested()) {
      std::this_thread::sleep_for(500ms);
      const std::size_t leader = servers.leader_of(items);
      if (!has_begun.load() || leader == nats_cluster::count) continue;
      servers[leader].kill();
      ++kills;
      std::this_thread::sleep_for(1s);
      servers[leader].start();
      // Of two that are gone at once nobody promises anything.
      if (!eventually([&] { return ends.stop_requested() || servers.is_whole(items); })) return;
    }
  });
  const int count = 100'000 * soak_scale();
  const tally came = bring(
      servers.urls(), count,
      [](int i) {
        return order{i, act::nothing};
      },
      [&](const tally&) { has_begun.store(true); });
  fate.request_stop();
  fate.join();
  CHECK(came.delivered == count);
  CHECK(came.failed == 0);
  CHECK(kills > 0);
  MESSAGE(kills << " kills of the leader");
}
