// SPDX-License-Identifier: Apache-2.0
// Small cases of everything that threads do with a session, in as many schedules as there is time for.

#include <explore/executor.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <levada/core/detail/units.hpp>
#include <levada/run/deploy.hpp>

namespace {

using namespace levada;
using namespace levada::test;

void require(bool so, const char* what) {
  if (!so) explorer()->fail(what);
}

/// A stage that must never be in two threads at once, and sees the items in order.
struct in_order {
  int next = 0;
  bool inside = false;
  int operator()(const int& x) {
    require(!inside, "two threads in one serial stage");
    inside = true;
    explorer()->step();
    explorer()->step();
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
struct anywhere {
  int operator()(const int& x) const {
    explorer()->step();
    return x;
  }
};

template <int Threads, class... Options>
auto deployed(auto pipeline) {
  return deploy<target<cpu<Threads>>, run_by<explored_executor>, Options...>(std::move(pipeline));
}
constexpr auto two_serial = [] { return input<int> | stage<"a">(in_order{}) | stage<"b">(in_order{}); };
constexpr auto three_serial = [] { return two_serial() | stage<"c">(in_order{}); };
constexpr auto mixed = [] {
  return input<int> | stage<"a">(in_order{}) | stage<"p">(parallel(anywhere{})) | stage<"c">(in_order{});
};
constexpr auto segments = [] { return input<int> | stage<"a">(in_order{}) | split_here | stage<"b">(in_order{}); };

void check_counts(const item_counts& c, std::uint64_t pushed) {
  require(c.pushed == pushed, "a push is not counted");
  require(c.pushed == c.delivered + c.failed + c.filtered + c.dropped + c.cancelled + c.in_flight,
          "counts do not add up");
  require(c.in_flight == 0, "an item is still in flight");
}

template <int Threads, class... Options>
void streamed(auto pipeline, int count) {
  const auto app = deployed<Threads, Options...>(pipeline());
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  int next = 0;
  for (const auto& r : app.stream(items)) require(r.has_value() && *r == next++, "another result");
  require(next == count, "a result is missing");
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
  require(session.is_over(), "the session is not over");
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}

void failing() {
  const auto app = deployed<2>(input<int> | stage<"a">(in_order_fails{}) | stage<"p">(parallel(anywhere{})));
  auto session = app.open();
  detail::thread pusher([&] {
    for (int i = 0; i < 5; ++i) session.push(i);
    session.close();
  });
  int next = 0;
  while (auto r = session.pop()) {
    require(r->has_value() == (next % 3 != 1), "a failure at another place");
    ++next;
  }
  pusher.join();
  require(next == 5, "an outcome is missing");
  check_counts(session.counts(), 5);
}

void cancelled_on_the_way() {
  const auto app = deployed<2>(two_serial());
  auto session = app.open();
  detail::thread pusher([&] {
    try {
      for (int i = 0; i < 5; ++i) session.push(i);
    } catch (const cancelled&) {
    }
  });
  detail::thread other([&] { session.cancel(); });
  int next = 0;
  while (auto r = session.pop())
    if (r->has_value()) require(**r == next++, "another result");
  pusher.join();
  other.join();
  session.drain();
  require(session.is_over(), "the session is not over");
  const item_counts c = session.counts();
  check_counts(c, c.pushed);
}

void cancelled_between_rates() {
  struct first_of {
    int operator()(const std::array<int, 2>& of) const { return of[0]; }
  };
  const auto app = deployed<2>(input<int> | stage<"a">(in_order{}) | batch<2> | stage<"first">(first_of{}));
  auto session = app.open();
  detail::thread pusher([&] {
    try {
      for (int i = 0; i < 5; ++i) session.push(i);
    } catch (const cancelled&) {
    }
  });
  detail::thread other([&] { session.cancel(); });
  while (session.pop()) {
  }
  pusher.join();
  other.join();
  session.drain();
  require(session.is_over(), "the session is not over");
  for (std::size_t r = 0; r < session.regions(); ++r) check_counts(session.counts(r), session.counts(r).pushed);
}

void abandoned() {
  const auto app = deployed<2>(two_serial());
  auto session = app.open();
  for (int i = 0; i < 3; ++i) require(session.try_push(i), "no room");
}

/// Two sessions of one app that share its permits.
template <int Threads>
void two_sessions() {
  const auto app = deployed<Threads>(two_serial());
  const auto turn = [&] {
    auto session = app.open();
    for (int i = 0; i < 2; ++i) {
      session.push(i);
      auto r = session.pop();
      require(r && r->has_value() && **r == i, "another result");
    }
  };
  detail::thread other(turn);
  turn();
  other.join();
}

void reopened() {
  const auto app = deployed<2>(two_serial());
  for (int round = 0; round < 2; ++round) {
    auto session = app.open();
    for (int i = 0; i < 3; ++i) require(session.try_push(i), "no room");
    session.close();
    int next = 0;
    while (auto r = session.pop()) require(**r == next++, "another result");
    require(next == 3, "a result is missing");
  }
}

/// What was pushed before `drain` is finished behind it, also where the rate changes.
void drained() {
  struct sum {
    int operator()(const std::array<int, 2>& of) const {
      explorer()->step();
      return of[0] + of[1];
    }
  };
  const auto app = deployed<2>(input<int> | stage<"a">(in_order{}) | batch<2> | stage<"sum">(sum{}));
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
  require(session.is_over(), "the session is not over");
}

struct small_case {
  std::string_view name;
  void (*run)();
};
constexpr small_case cases[] = {
    {"stream, two serial", [] { streamed<2>(two_serial, 7); }},
    {"stream, three serial, three threads", [] { streamed<3>(three_serial, 8); }},
    {"stream, serial, parallel, serial", [] { streamed<2>(mixed, 7); }},
    {"stream, two segments", [] { streamed<2>(segments, 4); }},
    {"stream, few slots", [] { streamed<2, slots<2>>(two_serial, 5); }},
    {"two threads, two serial", [] { by_two_threads<2>(two_serial, 4); }},
    {"two threads, one permit", [] { by_two_threads<1>(two_serial, 3); }},
    {"two threads, one slot", [] { by_two_threads<2, slots<1>>(two_serial, 3); }},
    {"two threads, two segments", [] { by_two_threads<2>(segments, 3); }},
    {"two threads that try", [] { by_two_threads<2>(two_serial, 3, true); }},
    {"two threads that try, one permit", [] { by_two_threads<1>(two_serial, 3, true); }},
    {"failures", failing},
    {"cancelled", cancelled_on_the_way},
    {"abandoned", abandoned},
    {"two sessions, one permit", [] { two_sessions<1>(); }},
    {"two sessions, two permits", [] { two_sessions<2>(); }},
    {"reopened", reopened},
    {"cancelled where the rate changes", cancelled_between_rates},
    {"drained where the rate changes", drained},
};

/// So many schedules of a case, by random priorities. Says what is seen of them.
std::string by_priorities(const small_case& c, std::uint64_t first, std::uint64_t count) {
  scheduler of;
  std::uint64_t longest = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    exploration how{.seed = seed};
    how.changes = static_cast<int>(seed % 5);
    how.steps_expected = 512;
    how.walk = seed % 4 == 0 ? 0 : 4u << seed % 7;
    how.delays_stores = seed % 3 != 0;
    longest = std::max(longest, of.run(how, c.run));
  }
  return "the longest of " + std::to_string(longest) + " steps";
}

/// All schedules of a case with so few preemptions, stores early and late; or the one that is given.
std::string by_search(const small_case& c, int preemptions, const char* schedule) {
  scheduler of;
  std::uint64_t count = 0, longest = 0;
  of.run({}, c.run);  // what is made once is there
  for (const bool late : {false, true}) {
    preemption_search search(preemptions);
    if (schedule != nullptr) search.take_again(schedule);
    do {
      longest = std::max(longest, of.run({.delays_stores = late, .search = &search}, c.run));
      if (!search.is_same()) {
        std::fprintf(stderr, "\nexplore: the same choices lead to another schedule\n");
        std::exit(1);
      }
      ++count;
    } while (schedule == nullptr && search.next());
  }
  return std::to_string(count) + " schedules, the longest of " + std::to_string(longest) + " steps";
}

template <class Explore>
int for_each_case(std::string_view begins_with, Explore explore) {
  int found = 0;
  for (const small_case& c : cases) {
    if (!c.name.starts_with(begins_with)) continue;
    ++found;
    std::fprintf(stderr, "%-40s", std::string(c.name).c_str());
    std::fprintf(stderr, "%s\n", explore(c).c_str());
  }
  return found == 0;
}

}  // namespace

/// explore_sessions [SCHEDULES [CASE [SEED]]]: so many of each case; or of the one whose name begins so; or the one of
/// that seed.
/// explore_sessions --preemptions N [CASE [SCHEDULE]]: all with at most N preemptions; or the one that a failure names.
int main(int argc, char** argv) {
  const std::vector<const char*> given(argv + 1, argv + argc);
  const auto at = [&](std::size_t i, const char* otherwise) { return i < given.size() ? given[i] : otherwise; };
  if (at(0, "") == std::string_view("--preemptions"))
    return for_each_case(at(2, ""),
                         [&](const small_case& c) { return by_search(c, std::atoi(at(1, "1")), at(3, nullptr)); });
  const std::uint64_t most = std::strtoull(at(0, "4000"), nullptr, 10);
  return for_each_case(at(1, ""), [&](const small_case& c) {
    return given.size() > 2 ? by_priorities(c, std::strtoull(given[2], nullptr, 10), 1) : by_priorities(c, 1, most);
  });
}
