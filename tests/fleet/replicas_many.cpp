// SPDX-License-Identifier: Apache-2.0
// Three servers that keep everything three times, of which the one that leads is killed again and again.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "files.hpp"
#include "fleet/named_drivers.hpp"
#include "fleet/nats_cluster.hpp"
#include "fleet/orders.hpp"
#include "soak.hpp"

using namespace levada::test;
using namespace std::chrono_literals;

namespace {

/// Of the stream of items the server that leads is killed and comes again, over and over.
class mortal_leaders {
 public:
  /// `has_begun()`: who deploys needs a leader.
  template <class HasBegun>
  mortal_leaders(nats_cluster& servers, HasBegun has_begun)
      : fate_([this, &servers, has_begun](const std::stop_token& ends) {
          const std::string items = levada::detail::fleet_names("orders", 0).items_stream;
          while (!ends.stop_requested()) {
            std::this_thread::sleep_for(500ms);
            const std::size_t leader = servers.leader_of(items);
            if (!has_begun() || leader == nats_cluster::count) continue;
            servers[leader].kill();
            ++deaths_;
            std::this_thread::sleep_for(1s);
            servers[leader].start();
            // Of two that are gone at once nobody promises anything.
            if (!eventually([&] { return ends.stop_requested() || servers.is_whole(items); })) return;
          }
        }) {}
  /// The last has ended.
  int end() {
    fate_.request_stop();
    fate_.join();
    return deaths_;
  }

 private:
  int deaths_ = 0;
  std::jthread fate_;
};

}  // namespace

TEST_CASE("the server that leads is killed and comes again: nothing is lost, and order holds") {
  if (!has_nats_server()) return;
  nats_cluster servers;
  const process first = start_worker(servers.urls()), second = start_worker(servers.urls());
  std::atomic<bool> has_begun{false};
  mortal_leaders leaders(servers, [&] { return has_begun.load(); });
  const int count = 100'000 * soak_scale();
  const tally came = bring(
      servers.urls(), count,
      [](int i) {
        return order{i, act::nothing};
      },
      [&](const tally&) { has_begun.store(true); });
  const int kills = leaders.end();
  CHECK(came.delivered == count);
  CHECK(came.failed == 0);
  CHECK(kills > 0);
  MESSAGE(kills << " kills of the leader");
}

TEST_CASE("a session with a name outlives its drivers and the server that leads") {
  if (!has_nats_server()) return;
  nats_cluster servers;
  const process first = start_worker(servers.urls()), second = start_worker(servers.urls());
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const temporary_folder folder;
  const driving as{servers.urls(), folder.file("outcomes"), "kept here",
                   50'000 * static_cast<std::uint64_t>(soak_scale()), true};
  const outcome_file outcomes(as.path);
  mortal_leaders leaders(servers, [&] { return outcomes.size() != 0; });
  const int deaths = drive_and_kill(as, 10'000, random, [] {});
  const int kills = leaders.end();
  check_outcomes(outcomes.all(), as.count, true);
  CHECK(kills > 0);
  MESSAGE(kills << " kills of the leader, and " << deaths << " of drivers");
}
