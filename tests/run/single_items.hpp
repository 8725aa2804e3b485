// SPDX-License-Identifier: Apache-2.0
#pragma once
// Single items, each run by the thread that pops it, while others push, help, look on, and cancel. For both executors.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

#include <levada/run/deploy.hpp>

namespace levada::test {

/// Counts, and fails for every item that is a multiple of 11.
struct counting {
  std::uint64_t calls = 0;
  std::uint64_t operator()(const std::uint64_t& x) {
    ++calls;
    if (x % 11 == 0) throw std::runtime_error("eleven");
    return x + calls;
  }
};

constexpr auto single_item_pipeline = [] {
  return input<std::uint64_t> | stage<"count">(counting{}) |
         stage<"twice">([](const std::uint64_t& x) { return 2 * x; }) | stage<"again">(counting{});
};

/// What the pipeline gives for item after item; 0: it fails.
class single_item_reference {
 public:
  std::uint64_t operator()(std::uint64_t x) {
    ++first_;
    if (x % 11 == 0) return 0;
    x = 2 * (x + first_);
    ++last_;
    return x % 11 == 0 ? 0 : x + last_;
  }

 private:
  std::uint64_t first_ = 0, last_ = 0;
};

/// What was popped is not what the reference says.
template <class Popped>
bool is_wrong(const Popped& r, std::uint64_t want) {
  return r->has_value() ? **r != want : want != 0;
}

/// One thread pushes and pops item after item, and says behind each how many there were. How many came out wrong.
template <class Session, class Told>
std::uint64_t wrong_in_turns(Session& session, std::uint64_t count, const Told& told) {
  single_item_reference reference;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    session.push(i);
    wrong += is_wrong(session.pop(), reference(i));
    told(i + 1);
  }
  return wrong;
}

/// The same without an order in its stages, so that items overtake one another; only numbers are counted here.
constexpr auto unordered_pipeline = [] {
  return input<std::uint64_t> | stage<"spin">([](const std::uint64_t& x) {
           std::uint64_t y = x;
           for (std::uint64_t i = x * 7919 % 128; i != 0; --i) y = y * 6364136223846793005u + 1;
           if (x % 11 == 0) throw std::runtime_error("eleven");
           return x + (y == 42 ? 1 : 0);
         }) |
         stage<"twice">([](const std::uint64_t& x) { return 2 * x; });
};
struct unordered_reference {
  std::uint64_t operator()(std::uint64_t x) { return x % 11 == 0 ? 0 : 2 * x; }
};

/// How many of `count` items, pushed in bursts of 1 to 4 by another thread, come out otherwise than the reference says.
template <class Reference = single_item_reference, class App>
std::uint64_t wrong_with_a_pusher(const App& app, std::uint64_t count) {
  auto session = app.open();
  // Others get ahead while an item is being settled.
  session.on_error([](std::uint64_t, const std::exception_ptr&) noexcept {
    for (int i = 0; i < 4; ++i) std::this_thread::yield();
  });
  std::atomic<std::uint64_t> popped{0};
  std::thread pusher([&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      session.push(i);
      // Now and then it lets the popper catch up, so that items are lone.
      if (i % 4 == 0 && i % 7 != 0)
        while (popped.load() + 1 < i) std::this_thread::yield();
    }
    session.close();
  });
  Reference reference;
  std::uint64_t wrong = 0, at = 0;
  while (auto r = session.pop()) {
    wrong += is_wrong(r, reference(at++));
    popped.store(at);
  }
  pusher.join();
  const item_counts c = session.counts();
  CHECK(c.delivered + c.failed == count);
  CHECK(c.in_flight == 0);
  return wrong + (at != count);
}

/// A thread that pushes and pops in turns, until another cancels: what is popped is right, and all is accounted for.
template <class App>
std::uint64_t wrong_until_cancelled(const App& app, std::uint64_t after) {
  auto session = app.open();
  std::atomic<std::uint64_t> turns{0};
  std::thread canceller([&] {
    while (turns.load() < after) std::this_thread::yield();
    session.cancel();
  });
  single_item_reference reference;
  std::uint64_t wrong = 0;
  try {
    for (std::uint64_t i = 0;; ++i) {
      session.push(i);
      turns.store(i);
      auto r = session.pop();
      if (!r) break;
      wrong += is_wrong(r, reference(i));
    }
  } catch (const cancelled&) {
  }
  canceller.join();
  const item_counts c = session.counts();
  CHECK(c.in_flight == 0);
  CHECK(c.pushed == c.delivered + c.failed + c.cancelled);
  return wrong;
}

/// A thread that pushes and pops in turns while another looks at its counts and statistics and switches measuring.
template <class App>
std::uint64_t wrong_while_watched(const App& app, std::uint64_t count) {
  auto session = app.open();
  std::atomic<bool> over{false};
  std::thread watcher([&] {
    for (bool on = true; !over.load(); on = !on) {
      const item_counts c = session.counts();
      if (c.delivered + c.failed > c.pushed) over.store(true);  // found below as wrong
      session.measure(on);
      static_cast<void>(session.statistics());
      std::this_thread::yield();
    }
  });
  std::uint64_t wrong = wrong_in_turns(session, count, [](std::uint64_t) {});
  wrong += over.exchange(true);
  watcher.join();
  return wrong;
}

/// Where one thread has pushed and popped all so far, another comes to help in the middle of that, session after
/// session.
template <class App>
std::uint64_t wrong_with_a_late_helper(const App& app, std::uint64_t sessions) {
  std::uint64_t wrong = 0;
  for (std::uint64_t n = 0; n < sessions; ++n) {
    auto session = app.open();
    std::atomic<std::uint64_t> turns{0};
    const std::uint64_t count = 300, from = n % 50;
    std::thread helper([&] {
      while (turns.load() < from) std::this_thread::yield();
      while (turns.load() < count) session.drain();
    });
    wrong += wrong_in_turns(session, count, [&](std::uint64_t done) { turns.store(done); });
    helper.join();
    CHECK(session.counts().in_flight == 0);
  }
  return wrong;
}

/// Who is in a stage.
struct crowd {
  std::atomic<int> here{0}, most{0};
};
inline auto counted_pipeline(crowd& in) {
  return input<std::uint64_t> | stage<"count">([&in](const std::uint64_t& x) {
           const int now = in.here.fetch_add(1) + 1;
           if (now > in.most.load()) in.most.store(now);
           std::uint64_t y = x;
           for (int i = 0; i < 50; ++i) y = y * 6364136223846793005u + 1;
           in.here.fetch_sub(1);
           return x + (y == 42 ? 1 : 0);
         });
}
/// Where one thread pushes and pops single items in the only session that there is, another opens sessions of its own,
/// one behind the other, for as many turns. How many items come out wrong.
template <class App>
std::uint64_t wrong_beside_other_sessions(const App& app, std::uint64_t sessions) {
  std::atomic<bool> over{false};
  const auto turns = [](auto& session, std::uint64_t count) {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      session.push(i);
      wrong += is_wrong(session.pop(), i);
    }
    return wrong;
  };
  std::atomic<std::uint64_t> wrong{0};
  std::thread first([&] {
    auto session = app.open();
    while (!over.load()) wrong += turns(session, 50);
  });
  for (std::uint64_t n = 0; n < sessions; ++n) {
    auto session = app.open();
    wrong += turns(session, n % 4 + 1);
  }
  over.store(true);
  first.join();
  return wrong.load();
}

/// Two threads push and pop in turns, one behind the other, for as long as each likes; now and then one only pushes,
/// and the other waits for what comes.
template <class App>
std::uint64_t wrong_from_hand_to_hand(const App& app, std::uint64_t sessions) {
  std::uint64_t wrong = 0;
  for (std::uint64_t n = 0; n < sessions; ++n) {
    auto session = app.open();
    std::atomic<std::uint64_t> pushed{0}, popped{0};
    std::atomic<bool> handed_over{false};
    single_item_reference reference;
    const auto push = [&] {
      session.push(pushed.load());
      pushed.fetch_add(1);
    };
    const auto pop = [&] {
      wrong += is_wrong(session.pop(), reference(popped.load()));
      popped.fetch_add(1);
    };
    const auto turns = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) push(), pop();
    };
    turns(n % 20);
    std::thread other([&] {
      pop();  // what the first pushes below; in some rounds it has parked meanwhile
      while (!handed_over.load()) std::this_thread::yield();
      turns(n % 7);
    });
    if (n % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    push();
    handed_over.store(true);
    other.join();
    turns(n % 20);
    CHECK(session.counts().in_flight == 0);
  }
  return wrong;
}

}  // namespace levada::test
