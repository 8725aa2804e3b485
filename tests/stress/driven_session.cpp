// SPDX-License-Identifier: Apache-2.0
// A node's session whose receiver is held up behind any two of its loads, at each until the other thread has given one
// more result: nobody may wait for a result that is gone.

#include <stress/held_up.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <thread>

#include <doctest/doctest.h>

#include <levada/remote/detail/driven_session.hpp>

#include <run/progress.hpp>

namespace {

using levada::test::eventually;

/// Of one session of the app below, and of the one who sends its results.
struct seen {
  std::atomic<int> pushed{0}, popped{0}, begun{0}, may_send{0}, sent{0};
  std::atomic<bool> is_over{false}, waited_for_nothing{false};
};

struct result {
  int value;
  bool has_value() const { return true; }
  const int& operator*() const { return value; }
  std::exception_ptr error() const { return nullptr; }
};

/// Its stages take no time: what is pushed can be popped.
struct instant_session {
  seen* by;
  void allow_multiple_producers() {}
  std::size_t credits() const { return 8; }
  template <class Make>
  void emplace(const Make&, std::chrono::steady_clock::time_point) {
    by->pushed.fetch_add(1);
  }
  std::optional<result> pop() {
    if (by->popped.load() == by->pushed.load()) return by->waited_for_nothing.store(true), std::nullopt;
    return result{by->popped.fetch_add(1)};
  }
  void cancel() { by->is_over.store(true); }
  bool is_over() const { return by->is_over.load(); }
};

struct instant_plan {
  std::size_t slots = 8;
};
struct instant_app {
  using item = int;
  using output = int;
  static constexpr instant_plan plan{};
  seen* by;
  instant_session open() const { return {by}; }
};

struct slow_sender {
  seen* by;
  void send_value(std::uint64_t, std::span<const std::byte>) {
    const int number = by->begun.fetch_add(1);
    while (by->may_send.load() <= number) std::this_thread::yield();
    by->sent.fetch_add(1);
  }
  void send_failure(std::uint64_t, const std::exception_ptr&) {}
  void give_up() {}
};

/// The receiver, while it is held up.
struct receiver {
  seen* all = nullptr;
  int first = 0, second = 0;  ///< the loads where it is
  int loads = 0;
};
thread_local receiver here;

/// Waits until the other thread has come so far, or can come no farther.
template <class Condition>
void wait_for_other(Condition so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (!so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}
void behind_load_of_receiver() {
  if (here.all == nullptr) return;
  seen& all = *here.all;
  ++here.loads;
  if (here.loads == here.first) {
    all.may_send.store(1);
    wait_for_other([&] { return all.begun.load() == 2; });
  }
  if (here.loads == here.second) {
    all.may_send.store(2);
    wait_for_other([&] { return all.sent.load() == 2; });
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // it goes on to where it waits
  }
}

}  // namespace

TEST_CASE("a receiver does not wait for a result that the other thread has given, wherever it is held up") {
  levada::test::behind_load = behind_load_of_receiver;
  const auto make = [](auto&&...) { return 0; };
  constexpr int loads = 3, attempts = 5;
  for (int first = 1; first <= loads; ++first)
    for (int second = first; second <= loads; ++second)
      for (int attempt = 0; attempt < attempts; ++attempt) {
        CAPTURE(first);
        CAPTURE(second);
        seen all;
        const instant_app app{&all};
        slow_sender to{&all};
        levada::detail::driven_session<instant_app, slow_sender> session(app, to);
        session.open();
        session.take(0, make);
        REQUIRE(eventually([&] { return all.begun.load() == 1; }));
        here = {&all, first, second};
        session.take(1, make);
        here = {};
        all.may_send.store(2);
        CHECK(eventually([&] { return all.sent.load() == 2 || all.waited_for_nothing.load(); }));
        CHECK(!all.waited_for_nothing.load());
        session.end();
      }
  levada::test::behind_load = nullptr;
}
