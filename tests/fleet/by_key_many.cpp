// SPDX-License-Identifier: Apache-2.0
// Partitions whose workers are killed, stand still, come and leave, and whose server goes: counts stay exact.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fleet/counters.hpp"
#include "fleet/nats_server.hpp"
#include "soak.hpp"

namespace {

using namespace levada::test;
using namespace std::chrono_literals;

/// Brings them to workers of which `change` makes others meanwhile, on a thread of its own, until it is told to end.
template <class Change>
void bring_and_change(const nats_server& server, int count, std::size_t workers, Change change) {
  std::vector<process> all;
  for (std::size_t i = 0; i < workers; ++i) all.push_back(counting.start(server.url()));
  auto app = levada::deploy<counter_box, counter_version>(counters(), levada::jetstream{{server.url()}});
  auto session = app.open<levada::dedicated>();
  std::atomic<bool> ends{false};
  std::thread fate([&] { change(all, ends); });
  expected_counts came;
  const auto begun = std::chrono::steady_clock::now();
  const double longest = bring_frames(session, came, count, [](int) {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  ends.store(true);
  fate.join();
  CHECK(came.wrong() == 0);
  MESSAGE(count << " items in " << took.count() << " s, the longest wait for one: " << longest << " s");
}

}  // namespace

TEST_CASE("sessions of many partitions, whose streams are purged all the time, lack nothing") {
  if (!has_nats_server()) return;
  const nats_server server;
  const levada::jetstream to{{server.url()}};
  const auto many = [] {
    return levada::input<frame> |
           levada::on<levada::fleet<"counters">, levada::by<&frame::camera>, levada::partitions<64>>(
               levada::stage<"count">([n = 0](const frame&) mutable { return ++n; }));
  };
  const auto works = levada::work<counter_box, "counters", counter_version>(many(), to);
  auto app = levada::deploy<counter_box, counter_version, levada::slots<256>>(many(), to);
  const int items = 64 * 800 * soak_scale();
  std::vector<frame> given;
  for (int i = 0; i < items; ++i) given.push_back(frame{i % 64, i});
  for (int session = 0; session < 4; ++session) {
    int at = 0, wrong = 0;
    for (auto&& r : app.stream(given)) {
      if (r.value() != (session * items + at) / 64 + 1) ++wrong;
      ++at;
    }
    CHECK(at == items);
    CHECK(wrong == 0);
  }
}

TEST_CASE("workers by key are killed, stopped past their lease, and join, at random") {
  if (!has_nats_server()) return;
  const nats_server server;
  const unsigned seed = std::random_device{}();
  CAPTURE(seed);
  bring_and_change(server, 100'000 * soak_scale(), 3, [&](std::vector<process>& all, const std::atomic<bool>& ends) {
    std::mt19937 random(seed);
    while (!ends.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1500));
      process& one = all[random() % all.size()];
      switch (random() % 3) {
        case 0:
          one.kill();
          one = counting.start(server.url());
          break;
        case 1:
          one.send(SIGSTOP);
          std::this_thread::sleep_for(std::chrono::milliseconds(random() % 3500));
          one.send(SIGCONT);
          break;
        default:
          if (all.size() < 5)
            all.push_back(counting.start(server.url()));
          else
            all.erase(all.begin());
      }
    }
  });
}

TEST_CASE("a worker that stood still past its lease disturbs nobody") {
  if (!has_nats_server()) return;
  const nats_server server;
  bring_and_change(server, 100'000, 2, [](std::vector<process>& all, const std::atomic<bool>& ends) {
    for (std::size_t i = 0; !ends.load(); ++i) {
      std::this_thread::sleep_for(700ms);
      all[i % 2].send(SIGSTOP);
      std::this_thread::sleep_for(2500ms);  // behind its lease
      all[i % 2].send(SIGCONT);
    }
  });
}

TEST_CASE("a server that is killed and comes again has every partition where it was") {
  if (!has_nats_server()) return;
  nats_server server;
  bring_and_change(server, 30'000, 2, [&](std::vector<process>&, const std::atomic<bool>& ends) {
    for (int i = 0; i < 3 && !ends.load(); ++i) {
      std::this_thread::sleep_for(1s);
      server.kill();
      server.start();
    }
  });
}

TEST_CASE("an item that kills its workers fails alone, and the state of its key goes on without it") {
  if (!has_nats_server()) return;
  const nats_server server;
  levada::jetstream to{{server.url()}};
  std::vector<process> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(counting.start(server.url()));
  auto app = levada::deploy<counter_box, counter_version>(counters(), to);
  auto session = app.open<levada::dedicated>();
  std::atomic<bool> ends{false};
  int deaths = 0;
  std::thread doctor([&] {
    while (!ends.load()) {
      for (process& w : workers)
        if (w.has_ended()) {
          ++deaths;
          w = counting.start(server.url());
        }
      std::this_thread::sleep_for(5ms);
    }
  });
  expected_counts came;
  bring_frames(session, came, 1000, [](int) {});
  session.push(frame{frame_of(3).camera, -1});
  for (int i = 1000; i < 1040; ++i) session.push(frame_of(i));
  const auto killer = session.pop();
  CHECK(failure_of(killer->error()).ends_with(", item 1000: its worker was lost 3 times"));
  for (int i = 0; i < 40; ++i) came.add(*session.pop());
  bring_frames(session, came, 1000, [](int) {});
  ends.store(true);
  doctor.join();
  CHECK(came.wrong() == 0);
  CHECK(deaths == 4);  // the first, and three that tried it alone
}
