// SPDX-License-Identifier: Apache-2.0
// Drivers of a session with a name, and its workers, that are killed at random for long: each item has one outcome.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "files.hpp"
#include "fleet/named_counters.hpp"
#include "fleet/named_drivers.hpp"
#include "fleet/named_orders.hpp"
#include "fleet/nats_server.hpp"
#include "fleet/orders.hpp"
#include "fleet/worker_program.hpp"
#include "soak.hpp"

namespace {

using namespace levada::test;

/// Three workers, one of which is killed again and again.
class mortal_workers {
 public:
  mortal_workers(const worker_program& program, const std::string& url, std::mt19937::result_type seed,
                 unsigned most_milliseconds = 1500)
      : fate_([this, &program, url, most_milliseconds, random = std::mt19937(seed)]() mutable {
          std::vector<process> workers;
          for (int i = 0; i < 3; ++i) workers.push_back(program.start(url));
          while (!ends_.load()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % most_milliseconds));
            workers[random() % workers.size()] = program.start(url);
            ++deaths_;
          }
        }) {}
  ~mortal_workers() {
    ends_.store(true);
    fate_.join();
  }
  int deaths() const { return deaths_.load(); }

 private:
  std::atomic<bool> ends_{false};
  std::atomic<int> deaths_{0};
  std::thread fate_;
};

/// Killed again and again, and started.
class mortal_server {
 public:
  explicit mortal_server(std::mt19937::result_type seed)
      : fate_([this, random = std::mt19937(seed)]() mutable {
          while (!ends_.load()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500 + random() % 4000));
            server_.kill();
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1000));
            server_.start();
            ++deaths_;
          }
        }) {}
  ~mortal_server() {
    ends_.store(true);
    fate_.join();
  }
  std::string url() const { return server_.url(); }
  int deaths() const { return deaths_.load(); }

 private:
  nats_server server_;
  std::atomic<bool> ends_{false};
  std::atomic<int> deaths_{0};
  std::thread fate_;
};

}  // namespace

TEST_CASE("the server is killed as well") {
  if (!has_nats_server()) return;
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const mortal_server server(random());
  const mortal_workers workers(working, server.url(), random());
  const temporary_folder folder;
  const driving as{server.url(), folder.file("outcomes"), "kept here",
                   200'000 * static_cast<std::uint64_t>(soak_scale()), true};
  const int deaths = drive_and_kill(driving_orders, as, 20'000, random, [] {});
  check_outcomes(outcome_file(as.path).all(), as.count, true);
  MESSAGE(deaths << " drivers, " << workers.deaths() << " workers and " << server.deaths() << " servers were killed");
}

TEST_CASE("drivers and workers are killed at random, and each of many items has one outcome") {
  if (!has_nats_server()) return;
  const nats_server server;
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const mortal_workers workers(working, server.url(), random());
  for (const bool keeps : {true, false}) {
    const temporary_folder folder;
    const driving as{server.url(), folder.file("outcomes"), keeps ? "kept here" : "kept there",
                     500'000 * static_cast<std::uint64_t>(soak_scale()), keeps};
    const int deaths = drive_and_kill(driving_orders, as, 20'000, random, [] {});
    const std::uint64_t again = check_outcomes(outcome_file(as.path).all(), as.count, keeps);
    MESSAGE(deaths << " drivers and " << workers.deaths() << " workers were killed, " << again
                   << " outcomes came again");
    CHECK(deaths > 10);
  }
}

namespace {

/// Of many items by key, whose drivers and workers are killed at random: by the server that `make(random)` makes.
template <class Make>
void kill_and_count(const Make& make) {
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (const bool keeps : {true, false}) {
    const auto server = make(random);
    const mortal_workers workers(counting, server.url(), random(), 8000);  // a partition is free behind a lease
    const temporary_folder folder;
    const driving as{server.url(), folder.file("outcomes"), keeps ? "kept here" : "kept there",
                     100'000 * static_cast<std::uint64_t>(soak_scale()), keeps};
    const int deaths = drive_and_kill(driving_counters, as, 20'000, random, [] {});
    const std::uint64_t again = check_counts(outcome_file(as.path).all(), as.count, keeps);
    MESSAGE(deaths << " drivers and " << workers.deaths() << " workers were killed, " << again
                   << " outcomes came again");
    if constexpr (requires { server.deaths(); }) MESSAGE(server.deaths() << " servers were killed");
  }
}

}  // namespace

TEST_CASE("by key drivers and workers are killed at random, and every count is exact") {
  if (has_nats_server()) kill_and_count([](std::mt19937&) { return nats_server(); });
}

TEST_CASE("by key drivers, workers and the server are killed at random, and every count is exact") {
  if (has_nats_server()) kill_and_count([](std::mt19937& random) { return mortal_server(random()); });
}
