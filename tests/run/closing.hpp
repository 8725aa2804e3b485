// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/closing.hpp: sessions that are closed while their ports are pushed to, for every executor.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

#include <doctest/doctest.h>
#include <levada/graph/sync.hpp>
#include <levada/run/deploy.hpp>

#include "items.hpp"

namespace levada::test {

using item_on_port = tracked<0>;

constexpr std::chrono::steady_clock::time_point at(int ms) {
  return std::chrono::steady_clock::time_point() + std::chrono::seconds(1) + std::chrono::milliseconds(ms);
}

inline auto by_number() {
  return graph(port<"left", item_on_port>, port<"right", int>,
               node<"sum", "left", "right">(
                   join<"sum">([](const item_on_port& a, const int& b) { return 100 * a.checked() + b; })),
               output<"sum", "sum">);
}

template <class Way>
auto by_time(Way right) {
  using namespace literals;
  return sync_by_time<tolerance<20_ms>>(port<"left", item_on_port>, right) |
         stage<"sum">([](const named_items<named_item<"left", item_on_port>, named_item<"right", int>>& both) {
           return 100 * both.get<"left">().checked() + both.get<"right">();
         });
}
inline auto by_time() { return by_time(port<"right", int>); }

/// Two threads push as fast as they can, one closes the session at any moment, or its ports: behind the last result
/// there is none.
template <class App, class Close>
void check_closing_at_any_moment(const App& app, int rounds, Close close) {
  const nothing_leaks guard;
  std::mt19937 random(17);
  for (int round = 0; round < rounds; ++round) {
    auto session = app.open();
    const auto pushes = [&](auto push) {
      return std::jthread([push] {
        try {
          for (int i = 0;; ++i) push(i);
        } catch (const cancelled&) {
        }
      });
    };
    std::jthread left = pushes([&](int i) { session.template push<"left">(item_on_port(i), at(i)); });
    std::jthread right = pushes([&](int i) { session.template push<"right">(i, at(i)); });
    const int waits = static_cast<int>(random() % 2'000);
    std::jthread closer([&, waits] {
      for (std::atomic<int> i = 0; i < waits; ++i) {
      }
      close(session, round);
    });
    std::uint64_t popped = 0;
    while (session.pop()) ++popped;
    const item_counts at_the_end = session.counts();
    CHECK(session.is_over());
    left.join(), right.join(), closer.join();
    CHECK(!session.try_pop());
    CHECK(session.is_over());
    const item_counts c = session.counts();
    CHECK(c.delivered == popped);
    CHECK(at_the_end.delivered == popped);
    CHECK(c.in_flight == 0);
    CHECK(c.pushed == c.delivered + c.dropped);
  }
}

inline constexpr auto all_ports = [](auto& session, int) { session.close(); };
inline constexpr auto one_port = [](auto& session, int round) {
  if (round % 2 == 0)
    session.template close<"left">();
  else
    session.template close<"right">();
  if (round % 3 == 0) session.close();
};
inline constexpr auto first_port = [](auto& session, int) { session.template close<"left">(); };

}  // namespace levada::test
