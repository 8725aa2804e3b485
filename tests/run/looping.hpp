// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/looping.hpp: a feedback of several stages between parallel ones, with failures before, inside and behind it,
// against a loop that does the same; on any executor.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>

#include "items.hpp"

namespace levada::test {

struct loop_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Says how many items are inside of it at once.
struct occupancy {
  std::atomic<int> inside{0}, most{0};

  void enter() {
    const int now = ++inside;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
  }
  void leave() { --inside; }
};

inline std::uint64_t stirred(std::uint64_t x) { return (x ^ x >> 31) * 0x9e3779b97f4a7c15u; }

/// Of item `i`, what is wrong with it.
inline const char* failure_of(std::uint64_t i) {
  return i % 17 == 3 ? "before" : i % 19 == 5 ? "first" : i % 23 == 7 ? "second" : i % 29 == 1 ? "behind" : nullptr;
}
inline void fail_at(const char* stage, std::uint64_t i) {
  const char* at = failure_of(i);
  if (at != nullptr && std::string(at) == stage) throw loop_failure(at);
}

/// What the pipeline makes of an item: from what the items before it, and not those that failed, have left.
struct indexed {
  std::uint64_t index, value;
};

/// Items pass "before", a feedback of two stages with a state that owns memory, and "behind".
inline auto looping_pipeline(occupancy& here) {
  const auto first = join<"first">(parallel([&here](const indexed& n, const tracked<7>& state) {
    here.enter();
    try {
      fail_at("first", n.index);
    } catch (...) {
      here.leave();
      throw;
    }
    return indexed{n.index, stirred(n.value + static_cast<std::uint64_t>(state.checked()))};
  }));
  const auto second = stage<"second">(parallel([&here](const indexed& n) {
    here.leave();
    fail_at("second", n.index);
    return tracked<7>(static_cast<int>(n.value % 1'000'003));
  }));
  return input<std::uint64_t> | stage<"before">(+[](const std::uint64_t& i) {
           fail_at("before", i);
           return indexed{i, stirred(i)};
         }) |
         feedback<"state">(
             graph(port<"item", indexed>, port<"state", tracked<7>>, node<"first", "item", "state">(first),
                   node<"second", "first">(second), output<"mixed", "first">, output<"state", "second">),
             tracked<7>(1)) |
         stage<"behind">(+[](const indexed& n) {
           fail_at("behind", n.index);
           return n.value;
         });
}

template <class... Options>
void check_looping(std::uint64_t count) {
  const nothing_leaks guard;
  occupancy here;
  const auto app = deploy<target<cpu<3>>, Options...>(looping_pipeline(here));
  for (int round = 0; round < 2; ++round) {
    auto session = app.open();
    std::thread pusher([&] {
      for (std::uint64_t i = 0; i < count; ++i) session.push(i);
      session.close();
    });
    std::uint64_t state = 1, wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto r = session.pop();
      REQUIRE(r);
      const std::string failed = failure_of(i) == nullptr ? "" : failure_of(i);
      const std::uint64_t mixed = stirred(stirred(i) + state);
      if (failed.empty() || failed == "behind") state = mixed % 1'000'003;
      try {
        wrong += r->value() == mixed && failed.empty() ? 0 : 1;
      } catch (const loop_failure& e) {
        wrong += failed == e.what() ? 0 : 1;
      }
    }
    pusher.join();
    CHECK(wrong == 0);
    CHECK(!session.pop());
  }
  CHECK(here.most == 1);
  CHECK(here.inside == 0);
}

}  // namespace levada::test
