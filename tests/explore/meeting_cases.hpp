// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/meeting_cases.hpp: items of two ports that meet by their times before they come to the session.

#include <explore/stages.hpp>

#include <chrono>
#include <cstdint>

#include <levada/core/detail/named_items.hpp>
#include <levada/core/detail/units.hpp>
#include <levada/graph/sync.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>

namespace levada::test {

constexpr auto met_pairs = [] {
  using pair_of_items = named_items<named_item<"a", int>, named_item<"b", int>>;
  return sync_by_time<tolerance<0_ms>>(port<"a", int>, port<"b", int>) |
         stage<"same">(parallel([one = anywhere{}](const pair_of_items& both) {
           require(both.get<"a">() == both.get<"b">(), "others have met");
           return one(both.get<"a">());
         }));
};
inline std::chrono::steady_clock::time_point captured(int item) {
  return std::chrono::steady_clock::time_point(std::chrono::seconds(1 + item));
}
void push_pairs(auto& session, int count) {
  for (int i = 0; i < count; ++i) {
    session.template push<"a">(i, captured(i));
    session.template push<"b">(i, captured(i));
  }
}

/// By a worker of the session, more items than there are slots. `by_two`: each port has a thread that pushes to it
/// while results are popped.
template <int Threads>
void met_by_time(int count, bool by_two) {
  const auto app = deployed<Threads, slots<1>>(met_pairs());
  auto session = app.template open<dedicated>();
  detail::thread one, other;
  if (by_two) {
    one = detail::thread([&] {
      for (int i = 0; i < count; ++i) session.template push<"a">(i, captured(i));
      session.template close<"a">();
    });
    other = detail::thread([&] {
      for (int i = 0; i < count; ++i) session.template push<"b">(i, captured(i));
      session.template close<"b">();
    });
  } else {
    push_pairs(session, count);
    session.close();
  }
  int next = 0;
  while (auto r = session.pop()) require(r->has_value() && **r == next++, "another result");
  if (by_two) one.join(), other.join();
  require(next == count, "a result is missing");
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}

/// Results are handed to a function, by a thread that works on the items while it waits.
template <int Threads>
void met_by_time_and_called(int count) {
  const auto app = deployed<Threads, slots<2>>(met_pairs());
  auto session = app.open();
  push_pairs(session, count);
  session.close();
  detail::atomic<int> next{0};
  callback_session called(std::move(session), [&](result<int&> r) {
    require(r.has_value() && *r == next.load(), "another result");
    next.store(next.load() + 1);
    next.notify_all();
  });
  for (int seen = 0; seen < count; seen = next.load()) next.wait(seen);
  called.drain();
  check_counts(called.counts(), static_cast<std::uint64_t>(count));
}

}  // namespace levada::test
