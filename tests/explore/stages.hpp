// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/stages.hpp: stages that check who is in them and in which order, pipelines of them, and the counts behind.

#include <explore/executor.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <levada/run/deploy.hpp>

namespace levada::test {

inline void require(bool so, const char* what) {
  if (!so) explorer()->fail(what);
}

/// Threads that run a stage of the case, and how many may.
inline int at_work = 0, permits_of_case = 0;
struct working {
  working() { require(++at_work <= permits_of_case, "more threads at work than there are permits"); }
  working(const working&) = delete;
  working& operator=(const working&) = delete;
  ~working() { --at_work; }
};

/// A stage that must never be in two threads at once, and sees the items in order. Each takes so long: a microsecond is
/// worth another thread.
struct in_order {
  std::chrono::nanoseconds ns{0};
  int next = 0;
  bool inside = false;
  int operator()(const int& x) {
    const working here;
    require(!inside, "two threads in one serial stage");
    inside = true;
    explorer()->changes(this);
    explorer()->takes(ns);
    explorer()->changes(this);
    require(x == next, "out of order");
    ++next;
    inside = false;
    return x;
  }
};
struct in_order_fails : in_order {
  int operator()(const int& x) {
    in_order::operator()(x);
    if (x % 3 == 1) throw std::runtime_error("one of three");
    return x;
  }
};
struct on_the_device {
  int operator()(const int& x) const {
    explorer()->takes(std::chrono::microseconds(5));
    return x;
  }
};
struct anywhere : on_the_device {
  int operator()(const int& x) const {
    const working here;
    return on_the_device::operator()(x);
  }
};

template <int Threads, class... Options>
auto deployed(auto pipeline) {
  at_work = 0, permits_of_case = Threads;
  return deploy<target<cpu<Threads>>, run_by<explored_executor>, Options...>(std::move(pipeline));
}
constexpr auto two_serial = [] { return input<int> | stage<"a">(in_order{}) | stage<"b">(in_order{}); };
constexpr auto three_serial = [] { return two_serial() | stage<"c">(in_order{}); };
constexpr auto mixed = [] {
  return input<int> | stage<"a">(in_order{}) | stage<"p">(parallel(anywhere{})) | stage<"c">(in_order{});
};
constexpr in_order slow{.ns = std::chrono::microseconds(5)};
constexpr auto one_slow = [] { return input<int> | stage<"a">(slow); };
constexpr auto two_slow = [] { return one_slow() | stage<"b">(slow); };
constexpr auto three_slow = [] { return two_slow() | stage<"c">(slow); };
constexpr auto mixed_slow = [] { return one_slow() | stage<"p">(parallel(anywhere{})) | stage<"c">(slow); };
constexpr auto pairs_slow = [] { return one_slow() | batch<2> | unbatch; };
constexpr auto segments_slow = [] { return one_slow() | split_here | stage<"b">(slow); };
constexpr auto segments = [] { return input<int> | stage<"a">(in_order{}) | split_here | stage<"b">(in_order{}); };

inline void check_counts(const item_counts& c, std::uint64_t pushed) {
  require(c.pushed == pushed, "a push is not counted");
  require(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled + c.in_flight,
          "counts do not add up");
  require(c.in_flight == 0, "an item is still in flight");
}

/// What is over stays so.
void check_over(auto& session) {
  for (int i = 0; i < 3; ++i) require(session.is_over(), "the session is not over");
}

}  // namespace levada::test
