// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/five_apps.hpp: five apps of different make at once, each with sessions and streams that are held up, cancelled
// and broken off at random, while three of a hundred items fail. On any executor. run/random_runs.hpp compares one
// pipeline after the other with a loop; this header asks whether each result and the counts can be.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <levada/interop/as_future.hpp>
#include <levada/run/callback_session.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/multi_producer.hpp>
#include <levada/run/simulated.hpp>

#include "items.hpp"

namespace levada::test::five_apps {

/// What becomes of an item, by its number alone.
inline unsigned draw_of(int v) { return static_cast<unsigned>(v) * 2'654'435'761u >> 12; }
inline bool fails_at(int v, unsigned stage) { return draw_of(v) % 100 == 17 * stage; }
inline bool fails(int v) { return fails_at(v, 1) || fails_at(v, 2) || fails_at(v, 3); }
inline bool is_kept(int v) { return draw_of(v) / 128 % 8 != 5; }
inline int result_of(int v) { return v ^ 0x5a5a; }

struct odd_item : std::runtime_error {
  explicit odd_item(int v) : std::runtime_error("an item that fails"), item(v) {}
  int item;
};

/// Throws where this stage fails; seldom waits a little.
inline int worked_on(int v, unsigned stage) {
  if (fails_at(v, stage)) throw odd_item(v);
  const unsigned wait = draw_of(v) / 8 % 4'096;
  if (wait == 100 * stage) std::this_thread::sleep_for(std::chrono::microseconds(draw_of(v) % 200));
  if (wait / 16 == stage) std::this_thread::yield();
  return v;
}

// ---- the stages, and five pipelines of them ----

inline auto first() {
  return stage<"first">([](const tracked<0>& t) { return tracked<1>(worked_on(t.checked(), 1)); });
}
inline auto keep() {
  return stage<"keep">([](tracked<1>&& t) -> std::optional<tracked<1>> {
    if (!is_kept(worked_on(t.checked(), 2))) return std::nullopt;
    return std::move(t);
  });
}
/// In order: it says so where an item comes behind a later one. Producers' items are in the order of each alone.
inline auto last() {
  return stage<"last">([before = std::array<int, 2>{-1, -1}](const tracked<1>& t) mutable {
    int& newest = before[t.checked() >= 1'000'000];
    if (t.value <= newest) throw std::logic_error("out of order");
    newest = t.value;
    return tracked<2>(result_of(worked_on(t.value, 3)));
  });
}

inline auto in_a_line() { return input<tracked<0>> | first() | keep() | last(); }
inline auto in_segments() { return input<tracked<0>> | first() | split_here | keep() | split_here | last(); }
inline auto in_branches() {
  return input<tracked<0>> | first() |
         fork(stage<"value">([](const tracked<1>& t) { return t.checked(); }),
              stage<"same">([](const tracked<1>& t) { return tracked<1>(worked_on(t.checked(), 2)); })) |
         join<"both">([](const int& v, const tracked<1>& t) -> std::optional<tracked<1>> {
           if (v != t.checked()) throw std::logic_error("branches of two items meet");
           if (!is_kept(v)) return std::nullopt;
           return t;
         }) |
         last();
}
inline auto by_a_device() { return input<tracked<0>> | first() | keep() | on<simulated<0>>(last()); }
inline auto side_by_side() {
  return input<tracked<0>> | first() | keep() |
         stage<"last">([](const tracked<1>& t) { return tracked<2>(result_of(worked_on(t.checked(), 3))); });
}

// ---- one session or stream ----

/// What came of the items of one session or stream.
struct found {
  std::uint64_t delivered = 0, failed = 0, filtered = 0, cancelled = 0, wrong = 0;

  template <class Result>
  void take(Result&& r) {
    if (r)
      take_value(r->checked());
    else
      take_error(r.error());
  }
  void take_value(int value) {
    const int v = result_of(value);
    ++delivered;
    wrong += fails(v) || !is_kept(v) || is_behind(v);
  }
  void take_error(const std::exception_ptr& why) {
    try {
      std::rethrow_exception(why);
    } catch (const odd_item& odd) {
      ++failed;
      wrong += !fails(odd.item) || is_behind(odd.item);
    } catch (const no_result& n) {
      ++filtered;
      wrong += n.why != missing::filtered;
    } catch (const levada::cancelled&) {
      ++cancelled;
    } catch (...) {
      ++wrong;
    }
  }
  /// An item that comes behind a later one of its pusher.
  bool is_behind(int v) {
    int& newest = before[v >= 1'000'000];
    const bool behind = v <= newest;
    newest = v;
    return behind;
  }
  /// All that was pushed has come to an end, nothing else came, and nothing was given up where nobody did.
  bool equals(const item_counts& c, bool given_up) const {
    return wrong == 0 && c.delivered == delivered && c.failed == failed && c.in_flight == 0 && c.dropped == 0 &&
           c.pushed == c.delivered + c.failed + c.filtered + c.cancelled && (given_up || c.cancelled == 0);
  }
  /// Nothing was given up: the counts are those of items 0, 1, ...
  bool equals_loop(const item_counts& c, int count) const {
    std::uint64_t odd = 0, kept = 0;
    for (int v = 0; v < count; ++v) {
      odd += fails_before_filter(v) || (is_kept(v) && fails(v));
      kept += !fails(v) && is_kept(v);
    }
    return equals(c, false) && c.pushed == static_cast<std::uint64_t>(count) && failed == odd && delivered == kept;
  }
  static bool fails_before_filter(int v) { return fails_at(v, 1) || fails_at(v, 2); }

  std::array<int, 2> before{-1, -1};
};

/// Waits a little, or much, now and then.
inline void dawdle(std::mt19937& random) {
  const auto draw = random() % 2'000;
  if (draw == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  else if (draw < 50)
    std::this_thread::yield();
}

/// How one session goes: of `count` items, given up behind `until` of them.
struct course {
  explicit course(std::mt19937& random) : count(1 + static_cast<int>(random() % (16u << random() % 9))) {
    if (random() % 3 != 0) return;
    gives_up = true;
    until = static_cast<int>(random() % static_cast<unsigned>(count));
    by_token = random() % 2 == 0;
  }
  int count;
  bool gives_up = false, by_token = false;
  int until = -1;
};

/// What a run says of itself.
struct verdict {
  std::uint64_t items = 0;
  bool good = true;
};

template <class Session>
void give_up(Session& session, std::stop_source& stop, const course& how) {
  if (how.by_token)
    stop.request_stop();
  else
    session.cancel();
}

template <class Session, class Push>
void push_all(Session& session, std::stop_source& stop, const course& how, std::mt19937& random, Push push) {
  try {
    for (int i = 0; i < how.count; ++i) {
      dawdle(random);
      if (i == how.until) give_up(session, stop, how);
      push(tracked<0>(i));
    }
  } catch (const cancelled&) {
  }
}

/// Pushed by `producers` threads and popped by this one.
template <class App>
verdict popped(const App& app, std::mt19937& random, int producers) {
  const course how(random);
  std::stop_source stop;
  auto session = app.open(stop.get_token());
  multi_producer many(session);
  std::vector<std::thread> pushing;
  std::atomic<int> left{producers};
  for (int p = 0; p < producers; ++p)
    pushing.emplace_back([&, p, seed = random()] {
      std::mt19937 own(seed);
      push_all(session, stop, how, own, [&](tracked<0> item) {
        item.value += p * 1'000'000;
        if (own() % 4 != 0 || !many.try_push(std::move(item))) many.push(std::move(item));
      });
      if (left.fetch_sub(1) == 1) session.close();
    });
  found all;
  for (;;) {
    dawdle(random);
    if (random() % 4 == 0) {
      if (auto r = session.try_pop()) all.take(*r);
    } else if (auto r = session.pop()) {
      all.take(*r);
    } else {
      break;
    }
  }
  for (std::thread& t : pushing) t.join();
  session.drain();
  const item_counts c = session.counts();
  const bool whole = producers == 1 && !how.gives_up;
  return {c.pushed, whole ? all.equals_loop(c, how.count) : all.equals(c, how.gives_up)};
}

template <class App>
verdict streamed(const App& app, std::mt19937& random) {
  const course how(random);
  std::vector<tracked<0>> items;
  for (int i = 0; i < how.count; ++i) items.emplace_back(i);
  found all;
  auto results = app.stream(items);
  for (auto& r : results) {
    dawdle(random);
    all.take(r);
    if (all.delivered + all.failed == static_cast<std::uint64_t>(how.until)) break;
  }
  const item_counts c = results.counts();
  if (!how.gives_up) return {c.pushed, all.equals_loop(c, how.count)};
  return {c.pushed, all.wrong == 0 && c.delivered + c.failed <= c.pushed};
}

template <class App>
verdict called_back(const App& app, std::mt19937& random) {
  const course how(random);
  std::stop_source stop;
  found all;
  callback_session session(app.open(stop.get_token()), [&](result<tracked<2>&>& r) { all.take(r); });
  push_all(session, stop, how, random, [&](tracked<0> item) { session.push(std::move(item)); });
  session.close();
  session.drain();
  const item_counts c = session.counts();
  return {c.pushed, how.gives_up ? all.equals(c, true) : all.equals_loop(c, how.count)};
}

template <class App>
verdict by_futures(const App& app, std::mt19937& random) {
  const course how(random);
  std::vector<std::future<tracked<2>>> futures;
  std::stop_source stop;
  item_counts c;
  {
    async_session session(app.open(stop.get_token()));
    push_all(session, stop, how, random,
             [&](tracked<0> item) { futures.push_back(as_future(session.push_async(std::move(item)))); });
    session.close();
    session.drain();
    for (const auto& f : futures) f.wait();
    c = session.counts();
  }
  // Read behind the session's end: ThreadSanitizer does not see how libstdc++ counts the owners of an exception.
  found all;
  for (auto& f : futures) try {
      all.take_value(f.get().checked());
    } catch (...) {
      all.take_error(std::current_exception());
    }
  // What was started behind the end was not pushed, and is told so.
  const std::uint64_t refused = futures.size() - c.pushed;
  const bool as_counted = all.filtered == c.filtered && all.cancelled == c.cancelled + refused;
  return {c.pushed, as_counted && (how.gives_up ? all.equals(c, true) : all.equals_loop(c, how.count))};
}

template <class App>
verdict one_run(const App& app, std::mt19937& random) {
  switch (random() % 8) {
    case 0:
    case 1:
      return streamed(app, random);
    case 2:
      return called_back(app, random);
    case 3:
      return by_futures(app, random);
    case 4:
      return popped(app, random, 2);
    default:
      return popped(app, random, 1);
  }
}

/// Runs of the five at once until `wanted` items went through them. Says how many did.
template <class Executor>
std::uint64_t run(std::uint64_t wanted, std::uint32_t seed) {
  using two = target<cpu<2>, simulated<0>>;
  const auto a = deploy<two, run_by<Executor>, slots<24>>(in_a_line());
  const auto b = deploy<target<cpu<3>>, run_by<Executor>, slots<8>>(in_segments());
  const auto c = deploy<two, run_by<Executor>>(in_branches());
  const auto d = deploy<two, run_by<Executor>, slots<24>>(by_a_device());
  const auto e = deploy<target<cpu<1>>, run_by<Executor>, slots<5>>(side_by_side());
  std::uint64_t items = 0;
  for (std::uint32_t round = 0; items < wanted; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    const nothing_leaks guard;
    std::mt19937 random(seed + round);
    // A device that delays its items sleeps for each: 60 us at least.
    simulated_device<0>().delay_ns = random() % 16 == 0 ? static_cast<std::int64_t>(random() % 5'000) : 0;
    simulated_device<0>().reorder_window = 1 + random() % 12;
    std::atomic<std::uint64_t> went{0}, wrong{0};
    std::vector<std::thread> threads;
    const auto beside = [&](const auto& app) {
      threads.emplace_back([&, own = std::mt19937(random())]() mutable {
        for (int i = 0; i < 8; ++i) {
          const verdict v = one_run(app, own);
          went += v.items;
          wrong += !v.good;
        }
      });
    };
    beside(a), beside(b), beside(c), beside(d), beside(e);
    for (std::thread& t : threads) t.join();
    simulated_device<0>().reset();
    CHECK(wrong.load() == 0);
    items += went.load();
  }
  return items;
}

}  // namespace levada::test::five_apps
