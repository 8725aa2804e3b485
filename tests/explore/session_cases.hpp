// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/session_cases.hpp: cases of everything that threads do with a session. Each checks its results, their order
// and the counts; the scheduler checks that some thread can go on as long as one has not ended.

#include <explore/stages.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include <explore/device.hpp>
#include <explore/division_cases.hpp>
#include <explore/meeting_cases.hpp>
#include <explore/sink_cases.hpp>

#include <levada/core/detail/units.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/run/deploy.hpp>

namespace levada::test {

template <int Threads, class... Options>
void streamed(auto pipeline, int count) {
  const auto app = deployed<Threads, Options...>(pipeline());
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  int next = 0;
  for (const auto& r : app.stream(items)) require(r.has_value() && *r == next++, "another result");
  require(next == count, "a result is missing");
}

/// Two streams, one behind the other; `beside`: while another thread does the same.
template <int Threads, class... Options>
void streamed_twice(auto pipeline, int count, bool beside = false) {
  const auto app = deployed<Threads, Options...>(pipeline());
  const auto stream_twice = [&] {
    std::vector<int> items;
    for (int i = 0; i < count; ++i) items.push_back(i);
    for (int round = 0; round < 2; ++round) {
      int next = 0;
      auto results = app.stream(items);
      for (const auto& r : results) require(r.has_value() && *r == next++, "another result");
      require(next == count, "a result is missing");
      check_counts(results.counts(), static_cast<std::uint64_t>(count));
    }
  };
  detail::thread other;
  if (beside) other = detail::thread(stream_twice);
  stream_twice();
  if (beside) other.join();
}

/// One thread pushes, another pops.
template <int Threads, class... Options>
void by_two_threads(auto pipeline, int count, bool by_trying = false) {
  const auto app = deployed<Threads, Options...>(pipeline());
  auto session = app.open();
  detail::thread pusher([&] {
    for (int i = 0; i < count; ++i)
      if (by_trying)
        while (!session.try_push(i)) detail::yield_thread();
      else
        session.push(i);
    session.close();
  });
  int next = 0;
  while (next < count || !by_trying) {
    auto r = by_trying ? session.try_pop() : session.pop();
    if (r)
      require(r->has_value() && **r == next++, "another result");
    else if (by_trying)
      detail::yield_thread();
    else
      break;
  }
  pusher.join();
  require(next == count, "a result is missing");
  check_over(session);
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}

/// Results leave as they complete: each once, with its number. One of three fails, and one of five gives none.
template <int Threads, class... Options>
void unordered_results(int count, bool cancels) {
  const auto app = deployed<Threads, Options...>(
      input<int> | stage<"a">(in_order_fails{}) |
      stage<"f">(parallel([](const int& x) { return x % 5 != 4 ? std::optional(x) : std::nullopt; })) |
      stage<"p">(parallel(anywhere{})));
  auto session = app.template open<unordered>();
  detail::thread pusher([&] {
    try {
      for (int i = 0; i < count; ++i) session.push(i);
    } catch (const cancelled&) {
    }
    session.close();
  });
  detail::thread other;
  if (cancels) other = detail::thread([&] { session.cancel(); });
  std::uint64_t seen = 0;
  item_envelope envelope;
  while (auto r = session.pop(envelope)) {
    const int number = static_cast<int>(envelope.sequence);
    require(number < count && (seen >> number & 1) == 0, "a result comes twice");
    seen |= std::uint64_t{1} << number;
    require(r->has_value() ? **r == number && number % 5 != 4 && number % 3 != 1 : number % 3 == 1, "another result");
  }
  pusher.join();
  if (cancels) other.join();
  for (int i = 0; i < count && !cancels; ++i)
    require((seen >> i & 1) == (i % 3 == 1 || i % 5 != 4 ? 1 : 0), "a result is missing");
  check_over(session);
  const item_counts c = session.counts();
  check_counts(c, cancels ? c.pushed : static_cast<std::uint64_t>(count));
}

/// Another thread pushes the next item only when the one before has come back.
inline void answered(int count) {
  const auto app = deployed<2, slots<8>>(two_slow());
  auto session = app.open();
  detail::atomic<int> popped{0};
  detail::thread pusher([&] {
    for (int i = 0; i < count; ++i) {
      session.push(i);
      popped.wait(i);
    }
    session.close();
  });
  int next = 0;
  while (auto r = session.pop()) {
    require(r->has_value() && **r == next++, "another result");
    popped.store(next);
    popped.notify_all();
  }
  pusher.join();
  require(next == count, "a result is missing");
}

inline void failing(int count) {
  const auto app = deployed<2, slots<8>>(input<int> | stage<"a">(in_order_fails{}) | stage<"p">(parallel(anywhere{})));
  auto session = app.open();
  detail::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(i);
    session.close();
  });
  int next = 0;
  while (auto r = session.pop()) {
    require(r->has_value() == (next % 3 != 1), "a failure at another place");
    ++next;
  }
  pusher.join();
  require(next == count, "an outcome is missing");
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}

/// By the thread that pushes, while this one waits for the next result.
inline void cancelled_by_pusher(int count) {
  const auto app = deployed<2, slots<8>>(two_slow());
  auto session = app.open();
  detail::thread pusher([&] {
    for (int i = 0; i < count; ++i) session.push(i);
    session.cancel();
  });
  int next = 0;
  while (auto r = session.pop())
    if (r->has_value()) require(**r == next++, "another result");
  pusher.join();
  check_over(session);
  const item_counts c = session.counts();
  check_counts(c, c.pushed);
}

/// By another thread, while this one pushes as long as it can and pops: `end(session, stop)`.
template <class End>
void ended_on_the_way(int count, End end) {
  const auto app = deployed<2, slots<8>>(two_slow());
  std::stop_source stop;
  auto session = app.open(stop.get_token());
  detail::thread other([&] { end(session, stop); });
  try {
    for (int i = 0; i < count; ++i) session.push(i);
  } catch (const cancelled&) {
  }
  int next = 0;
  while (auto r = session.pop())
    if (r->has_value()) require(**r == next++, "another result");
  other.join();
  session.drain();
  check_over(session);
  const item_counts c = session.counts();
  check_counts(c, c.pushed);
}

inline void cancelled_on_the_way(int count) {
  ended_on_the_way(count, [](auto& session, auto&) { session.cancel(); });
}
inline void stopped_on_the_way(int count) {
  ended_on_the_way(count, [](auto&, auto& stop) { stop.request_stop(); });
}

/// The one that waits in pop hears of it.
inline void closed_by_another(int count) {
  const auto app = deployed<2, slots<8>>(two_slow());
  auto session = app.open();
  for (int i = 0; i < count; ++i) require(session.try_push(i), "no room");
  detail::thread other([&] { session.close(); });
  int next = 0;
  while (auto r = session.pop()) require(r->has_value() && **r == next++, "another result");
  other.join();
  require(next == count, "a result is missing");
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}

inline void cancelled_between_rates(int count) {
  struct first_of {
    int operator()(const std::array<int, 2>& of) const { return of[0]; }
  };
  const auto app = deployed<2, slots<8>>(input<int> | stage<"a">(in_order{}) | batch<2> | stage<"first">(first_of{}));
  auto session = app.open();
  detail::thread other([&] { session.cancel(); });
  try {
    for (int i = 0; i < count; ++i) session.push(i);
  } catch (const cancelled&) {
  }
  while (session.pop()) {
  }
  other.join();
  session.drain();
  check_over(session);
  for (std::size_t r = 0; r < session.regions(); ++r) check_counts(session.counts(r), session.counts(r).pushed);
}

inline void abandoned() {
  const auto app = deployed<2, slots<8>>(two_slow());
  auto session = app.open();
  for (int i = 0; i < 3; ++i) require(session.try_push(i), "no room");
}

/// Sessions of one app that share its permits.
template <int Threads>
void several_sessions(int sessions, int count) {
  const auto app = deployed<Threads, slots<8>>(two_slow());
  const auto turn = [&] {
    auto session = app.open();
    for (int i = 0; i < count; ++i) {
      session.push(i);
      auto r = session.pop();
      require(r && r->has_value() && **r == i, "another result");
    }
  };
  std::vector<detail::thread> others;
  for (int i = 1; i < sessions; ++i) others.emplace_back(turn);
  turn();
  for (detail::thread& t : others) t.join();
}

/// The session of a device, which fails one item of three and reports the last first.
inline void on_a_device(int count, bool cancels) {
  at_work = 0, permits_of_case = 2;
  const auto app = deploy<target<cpu<2>, simulated<0>>, run_by<explored_executor>, slots<8>>(
      input<int> | on<simulated<0>>(stage<"d">(parallel(on_the_device{}))) | stage<"e">(parallel(anywhere{})));
  auto session = app.open();
  detail::thread other;
  if (cancels) other = detail::thread([&] { session.cancel(); });
  try {
    for (int i = 0; i < count; ++i) session.push(i);
  } catch (const cancelled&) {
  }
  session.close();
  int next = 0;
  while (auto r = session.pop()) {
    require(cancels || r->has_value() == (next % 3 != 1), "a failure at another place");
    if (r->has_value()) {
      require(cancels ? **r >= next : **r == next, "another result");  // cancelled ones are passed over
      next = **r;
    }
    ++next;
  }
  if (cancels) other.join();
  session.drain();
  require(cancels || next == count, "an outcome is missing");
  const item_counts c = session.counts();
  check_counts(c, c.pushed);
}

/// As if somebody had measured branches that are worth a thread each.
inline constexpr kernel_cost branch_costs[] = {{"callable", "left(4 bytes) -> 4 bytes", 1e-4, 0},
                                               {"callable", "right(4 bytes) -> 4 bytes", 1e-4, 0}};
inline constexpr cost_table branch_table{.machine = "none", .kernels = branch_costs};

/// Branches of one item at once.
template <int Threads>
void forked(int count, bool cancels) {
  const auto app = deployed<Threads, slots<8>, costs<branch_table>>(
      input<int> | fork(stage<"left">(parallel(anywhere{})), stage<"right">(parallel(anywhere{}))) |
      join<"sum">(+[](const int& a, const int& b) { return a + b; }));
  static_assert(decltype(app)::plan.fork.size() > 0 && decltype(app)::plan.fork[0].order == branch_order::at_once);
  auto session = app.open();
  detail::thread other;
  if (cancels) other = detail::thread([&] { session.cancel(); });
  int next = 0;
  try {
    for (; next < count; ++next) {
      session.push(next);
      auto r = session.pop();
      if (!r) break;
      require(!r->has_value() || **r == 2 * next, "another result");
      require(cancels || r->has_value(), "a result is missing");
    }
  } catch (const cancelled&) {
  }
  if (cancels) other.join();
  require(cancels || next == count, "a result is missing");
  session.drain();
  const item_counts c = session.counts();
  check_counts(c, c.pushed);
}

inline void reopened(int count) {
  const auto app = deployed<2, slots<8>>(two_slow());
  for (int round = 0; round < 2; ++round) {
    auto session = app.open();
    for (int i = 0; i < count; ++i) require(session.try_push(i), "no room");
    session.close();
    int next = 0;
    while (auto r = session.pop()) require(**r == next++, "another result");
    require(next == count, "a result is missing");
  }
}

/// What was pushed before `drain` is finished behind it, also where the rate changes.
inline void drained() {
  struct sum {
    int operator()(const std::array<int, 2>& of) const {
      explorer()->step(nullptr);
      return of[0] + of[1];
    }
  };
  const auto app = deployed<2, slots<8>>(input<int> | stage<"a">(in_order{}) | batch<2> | stage<"sum">(sum{}));
  auto session = app.open();
  for (int i = 0; i < 2; ++i) {
    session.push(2 * i);
    session.push(2 * i + 1);
    session.drain();
    auto r = session.try_pop();
    require(r && r->has_value() && **r == 4 * i + 1, "a result is missing behind drain");
    check_counts(session.counts(), static_cast<std::uint64_t>(2 * i + 2));
  }
  session.close();
  require(!session.pop(), "a result of nothing");
  check_over(session);
}

struct session_case {
  std::string_view name;
  void (*run)();
  unsigned most_preemptions = 3;  ///< with more, a search's states take tens of GB
};

/// Of which all schedules with few preemptions are searched.
inline constexpr session_case small_cases[] = {
    {"one ticket", [] { streamed<2, slots<4>>(one_slow, 3); }},
    {"two tickets", [] { streamed<2, slots<4>>(two_slow, 3); }},
    {"two tickets, cheap items", [] { streamed<2, slots<4>>(two_serial, 5); }},
    {"three tickets, three workers", [] { streamed<3, slots<4>>(three_slow, 3); }},
    {"serial, parallel, serial", [] { streamed<2, slots<4>>(mixed_slow, 3); }},
    {"two segments", [] { streamed<2, slots<4>>(segments_slow, 3); }},
    {"two streams", [] { streamed_twice<2, slots<4>>(two_slow, 2); }},
    {"pusher and popper, two tickets", [] { by_two_threads<2, slots<2>>(two_slow, 3); }},
    {"pusher and popper, two segments", [] { by_two_threads<2, slots<2>>(segments_slow, 3); }},
    {"pusher and popper, one permit", [] { by_two_threads<1, slots<4>>(two_slow, 3); }},
    {"pusher and popper, one slot", [] { by_two_threads<2, slots<1>>(two_slow, 2); }},
    {"pusher and popper that try", [] { by_two_threads<2, slots<4>>(one_slow, 2, true); }},
    {"pusher and popper that try, one permit", [] { by_two_threads<1, slots<4>>(two_slow, 2, true); }},
    {"sessions: two, one permit", [] { several_sessions<1>(2, 1); }},
    {"sessions: two, two permits", [] { several_sessions<2>(2, 1); }},
    {"sessions: three, one permit", [] { several_sessions<1>(3, 1); }},
    {"answered", [] { answered(2); }},
    {"sink", [] { into_a_sink(2, false); }},
    {"sink, pusher that tries", [] { into_a_sink(2, true); }},
    {"failure", [] { failing(2); }},
    {"cancelled", [] { cancelled_on_the_way(1); }},
    {"cancelled by the pusher", [] { cancelled_by_pusher(1); }},
    {"stopped", [] { stopped_on_the_way(1); }},
    {"closed by another", [] { closed_by_another(2); }},
    {"abandoned", abandoned},
    {"reopened", [] { reopened(2); }},
    {"rates: streamed", [] { streamed<2, slots<2>>(pairs_slow, 4); }},
    {"rates: cancelled", [] { cancelled_between_rates(1); }},
    {"rates: drained", drained},
    {"device, two items", [] { on_a_device(2, false); }},
    {"device", [] { on_a_device(3, false); }, 2},
    {"device, cancelled", [] { on_a_device(1, true); }, 2},
    {"fork", [] { forked<2>(1, false); }},
    {"fork, three workers", [] { forked<3>(1, false); }},
    {"fork, cancelled", [] { forked<2>(1, true); }},
    {"met by time", [] { met_by_time<2>(3, false); }},
    {"met by time, called", [] { met_by_time_and_called<2>(4); }, 2},
    {"parts of a call", [] { divided_calls<2>(1); }},
    {"parts of a call, two callers", [] { divided_calls_of_two<2>(1); }},
    {"parts of a lone item", [] { divided_items<2>(1, 1); }},
    {"parts of items, two sessions", [] { divided_items_of_two<2>(1); }},
    {"parts of branches", [] { divided_branches<2>(1, 1); }},
    {"parts of an item, cancelled", divided_and_cancelled},
};

/// Of which there are too many schedules: some at random.
inline constexpr session_case large_cases[] = {
    {"stream, two serial", [] { streamed<2>(two_serial, 7); }},
    {"stream, three serial, three threads", [] { streamed<3>(three_serial, 8); }},
    {"stream, serial, parallel, serial", [] { streamed<2>(mixed, 7); }},
    {"stream, two segments", [] { streamed<2>(segments, 4); }},
    {"stream, one behind the other", [] { streamed_twice<2, slots<4>>(two_serial, 5); }},
    {"stream, two threads", [] { streamed_twice<3, slots<4>>(two_slow, 3, true); }},
    {"stream, few slots", [] { streamed<2, slots<2>>(two_serial, 5); }},
    {"stream, slow items, three threads", [] { streamed<3>(three_slow, 8); }},
    {"two threads, two serial", [] { by_two_threads<2>(two_serial, 4); }},
    {"two threads, one permit", [] { by_two_threads<1>(two_serial, 3); }},
    {"two threads, one slot", [] { by_two_threads<2, slots<1>>(two_serial, 3); }},
    {"two threads, two segments", [] { by_two_threads<2>(segments, 3); }},
    {"two threads that try", [] { by_two_threads<2>(two_serial, 3, true); }},
    {"two threads that try, one permit", [] { by_two_threads<1>(two_serial, 3, true); }},
    {"answers", [] { answered(4); }},
    {"sink", [] { into_a_sink(4, false); }},
    {"sink, pusher that tries", [] { into_a_sink(4, true); }},
    {"beside a fed one", [] { beside_a_fed_one<explored_executor>(3); }},
    {"beside a fed one, one worker", [] { beside_a_fed_one<one_worker_for_all>(3); }},
    {"beside a fed one and another app", [] { beside_a_fed_one<one_worker_for_all>(3, true); }},
    {"sinks of two apps, two sessions", [] { sinks_of_two_apps(2, 3); }},
    {"sinks of two apps, four sessions", [] { sinks_of_two_apps(4, 2); }},
    {"unordered", [] { unordered_results<2, slots<4>>(10, false); }},
    {"unordered, three threads", [] { unordered_results<3, slots<4>>(12, false); }},
    {"unordered, cancelled", [] { unordered_results<2, slots<4>>(8, true); }},
    {"failures", [] { failing(5); }},
    {"cancelled", [] { cancelled_on_the_way(5); }},
    {"cancelled by the pusher", [] { cancelled_by_pusher(3); }},
    {"stopped", [] { stopped_on_the_way(5); }},
    {"abandoned", abandoned},
    {"two sessions, one permit", [] { several_sessions<1>(2, 2); }},
    {"two sessions, two permits", [] { several_sessions<2>(2, 2); }},
    {"four sessions, two permits", [] { several_sessions<2>(4, 2); }},
    {"reopened", [] { reopened(3); }},
    {"stream, where the rate changes", [] { streamed<2, slots<4>>(pairs_slow, 10); }},
    {"cancelled where the rate changes", [] { cancelled_between_rates(5); }},
    {"drained where the rate changes", drained},
    {"device", [] { on_a_device(5, false); }},
    {"device, cancelled", [] { on_a_device(4, true); }},
    {"met by time", [] { met_by_time<2>(6, false); }},
    {"met by time, pushed by two", [] { met_by_time<2>(4, true); }},
    {"met by time, three workers", [] { met_by_time<3>(6, false); }},
    {"met by time, called", [] { met_by_time_and_called<2>(10); }},
    {"fork, three threads", [] { forked<3>(3, false); }},
    {"fork, cancelled", [] { forked<2>(3, true); }},
    {"parts of calls, three threads", [] { divided_calls<3>(3); }},
    {"parts of calls, two callers", [] { divided_calls_of_two<3>(2); }},
    {"parts of lone items", [] { divided_items<2>(3, 1); }},
    {"parts of items, two at once", [] { divided_items<3>(4, 2); }},
    {"parts of items, two sessions", [] { divided_items_of_two<2>(2); }},
    {"parts of branches", [] { divided_branches<2>(3, 1); }},
    {"parts of branches, two at once", [] { divided_branches<3>(4, 2); }},
    {"parts of an item, cancelled", divided_and_cancelled},
};

}  // namespace levada::test
