// SPDX-License-Identifier: Apache-2.0
// Workers that are killed by an item or stand still, and servers that go: the driver has each item once, in order.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"
#include "soak.hpp"

namespace {

using namespace levada::test;
using namespace std::chrono_literals;

}  // namespace

TEST_CASE("an item that kills its workers fails alone, and harms no neighbour") {
  if (!has_nats_server()) return;
  const nats_server server;
  std::vector<process> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(start_worker(server.url()));
  std::atomic<bool> ends{false};
  int deaths = 0;
  std::thread doctor([&] {
    while (!ends.load()) {
      for (process& w : workers)
        if (w.has_ended()) {
          ++deaths;
          w = start_worker(server.url());
        }
      std::this_thread::sleep_for(5ms);
    }
  });
  const tally came = bring(
      server.url(), 200,
      [](int i) {
        return order{i, i == 77 ? act::kills : i % 10 == 3 ? act::is_filtered : act::nothing};
      },
      [](const tally&) {});
  ends.store(true);
  doctor.join();
  CHECK(came.delivered == 200 - 20 - 1);
  REQUIRE(came.failed == 1);
  CHECK(came.failures[0].starts_with("levada: fleet \"orders\", worker "));
  CHECK(came.failures[0].ends_with(", item 77: its worker was lost 3 times"));
  CHECK(deaths == 3);
}

TEST_CASE("a worker that stood still goes on, and what it had comes once") {
  if (!has_nats_server()) return;
  const nats_server server;
  const process first = start_worker(server.url()), second = start_worker(server.url());
  const auto begun = std::chrono::steady_clock::now();
  std::optional<std::thread> nurse;
  const tally came = bring(
      server.url(), 800,
      [](int i) {
        return order{i, act::sleeps};
      },
      [&](const tally& t) {
        if (t.delivered != 50) return;
        first.send(SIGSTOP);
        nurse.emplace([&] {  // behind its lease
          std::this_thread::sleep_for(2500ms);
          first.send(SIGCONT);
        });
      });
  if (nurse) nurse->join();
  CHECK(std::chrono::steady_clock::now() - begun > 2500ms);
  CHECK(came.delivered == 800);
}

TEST_CASE("a server that is killed and comes again has lost nothing") {
  if (!has_nats_server()) return;
  nats_server server;
  const process first = start_worker(server.url()), second = start_worker(server.url());
  const tally came = bring(
      server.url(), 30'000,
      [](int i) {
        return order{i, act::nothing};
      },
      [&](const tally& t) {
        if (t.delivered % 1000 != 500) return;
        server.kill();
        server.start();
      });
  CHECK(came.delivered == 30'000);
}

TEST_CASE("workers are killed, stopped and continued at random") {
  if (!has_nats_server()) return;
  const nats_server server;
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::vector<process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start_worker(server.url()));
  std::atomic<bool> ends{false};
  std::thread fate([&] {
    while (!ends.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1500));
      process& one = workers[random() % workers.size()];
      if (random() % 2 == 0) {
        one.kill();
        one = start_worker(server.url());
      } else {
        one.send(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 3000));
        one.send(SIGCONT);
      }
    }
  });
  const int count = 5000 * soak_scale();
  const tally came = bring(
      server.url(), count,
      [](int i) {
        return order{i, i % 4 == 0 ? act::sleeps : act::nothing};
      },
      [](const tally&) {});
  ends.store(true);
  fate.join();
  // An item whose worker stood still three times is taken for one that kills.
  CHECK(came.delivered + came.failed == count);
  for (const std::string& why : came.failures) CHECK(why.ends_with("its worker was lost 3 times"));
}
