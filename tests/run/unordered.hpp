// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/unordered.hpp: items of random length through sessions whose results leave as they complete, for run/ and tsan/.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <levada/run/deploy.hpp>

namespace levada::test {

/// Between nothing and some microseconds, now and then a hundred times as long; an item says the same at each visit.
inline void random_length(int item) {
  std::minstd_rand random(static_cast<unsigned>(item) * 2654435761u + 1);
  const auto turns = random() % 50 == 0 ? 20'000 : random() % 400;
  for (std::atomic<unsigned long> i{0}; i.load(std::memory_order_relaxed) < turns;)
    i.store(i.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// A serial stage, which sees the items in order; items without a result, and failures; a long stage.
inline auto unlike_items() {
  return input<int> | stage<"in order">([next = 0](const int& x) mutable {
           if (x != next++) throw std::logic_error("out of order");
           return x;
         }) |
         stage<"some">(parallel([](const int& x) { return x % 7 != 6 ? std::optional(x) : std::nullopt; })) |
         stage<"long">(parallel([](const int& x) {
           random_length(x);
           if (x % 11 == 10) throw std::runtime_error("one of eleven");
           return x;
         }));
}

/// Each result comes once, with its number, and is what it should be; the counts are exact.
template <class... Options, class App>
void each_comes_once(const App& app, int count, bool by_trying = false) {
  auto session = app.template open<unordered, Options...>();
  std::thread pusher([&] {
    for (int i = 0; i < count; ++i)
      if (by_trying)
        while (!session.try_push(i)) std::this_thread::yield();
      else
        session.push(i);
    session.close();
  });
  std::vector<char> seen(static_cast<std::size_t>(count));
  int wrong = 0;
  item_envelope envelope;
  for (;;) {
    auto r = by_trying ? session.try_pop(envelope) : session.pop(envelope);
    if (!r) {
      if (!by_trying || session.is_over()) break;
      std::this_thread::yield();
      continue;
    }
    const int item = static_cast<int>(envelope.sequence);
    wrong += item >= count || seen[envelope.sequence]++ != 0 || item % 7 == 6;
    wrong += r->has_value() ? **r != item || item % 11 == 10 : item % 11 != 10;
  }
  pusher.join();
  for (int i = 0; i < count; ++i) wrong += (i % 7 != 6) != (seen[static_cast<std::size_t>(i)] != 0);
  CHECK(wrong == 0);
  CHECK(session.is_over());
  const item_counts c = session.counts();
  CHECK(c.pushed == static_cast<std::uint64_t>(count));
  CHECK(c.filtered == static_cast<std::uint64_t>(count / 7));
  CHECK(c.pushed == c.delivered + c.failed + c.filtered);
}

}  // namespace levada::test
