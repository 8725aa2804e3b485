// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/divided_items.hpp: units of one item computed by several threads, on any executor. Run under oneTBB by
// run/divided_items.cpp, on plain threads by tsan/. That they meet is shown by waiting for each other; nothing hangs
// where they do not.

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <levada/run/deploy.hpp>

#include <run/progress.hpp>
#include <run/tiled.hpp>

namespace levada::test {

/// Counts the threads that are in parts, and may keep the first part of two until the second has begun.
struct part_hook {
  static inline std::atomic<int> at_once{0}, most{0}, parts{0}, begun{0}, meetings{0};
  static inline std::atomic<bool> waits{false};

  part_hook(detail::tile_range some, std::size_t tiles) {
    const int now = at_once.fetch_add(1) + 1;
    for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    parts.fetch_add(1);
    if (!waits.load() || some.end - some.begin == tiles) return;
    const int mine = begun.fetch_add(1);
    for (int i = 0; i < 10'000 && mine % 2 == 0; ++i) {
      if (begun.load() > mine + 1) {
        meetings.fetch_add(1);
        return;
      }
      std::this_thread::yield();
    }
  }
  part_hook(const part_hook&) = delete;
  part_hook& operator=(const part_hook&) = delete;
  ~part_hook() { at_once.fetch_sub(1); }

  static void reset(bool wait) {
    at_once = most = parts = begun = meetings = 0;
    waits = wait;
  }
};

using tiled_item = tensor<float, 64>;
inline tiled_item tiled_input(int n) {
  tiled_item in;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((static_cast<int>(i) * 7 + n) % 19 - 9);
  return in;
}
inline bool is_computed(const tiled_item& out, int n) {
  const tiled_item in = tiled_input(n);
  bool same = true;
  for (std::size_t i = 0; i < in.size(); ++i) same = same && out[i] == (in[i] < 0 ? 0.0f : in[i]);
  return same;
}

/// Three units, each of them divided where there are several threads.
template <class Executor, int Threads, class... Options>
auto tiled_app() {
  return deploy<target<cpu<Threads>>, backends<tiled<part_hook>>, run_by<Executor>, Options...>(
      input<tiled_item> | nn::relu | nn::relu | nn::relu);
}

template <class App>
void parts_meet_in_a_call_of(const App& app) {
  part_hook::reset(true);
  int n = 0;
  CHECK(eventually([&] {
    CHECK(is_computed(app(tiled_input(n)), n));
    ++n;
    return part_hook::meetings.load() != 0;
  }));
}

template <class Executor>
void parts_meet_in_a_call() {
  const auto app = tiled_app<Executor, 2>();
  static_assert(decltype(app)::plan.unit[1].parts == 2);
  parts_meet_in_a_call_of(app);
}

/// Two branches, of two units and of one: all threads compute each of the three sooner than two of them the branches.
template <class Executor, int Threads>
auto tiled_branches_app() {
  return deploy<target<cpu<Threads>>, backends<tiled<part_hook>>, run_by<Executor>>(
      input<tiled_item> | fork(nn::relu | nn::relu, nn::relu) |
      join<"first">(+[](const tiled_item& a, const tiled_item&) { return a; }));
}

template <class App>
void parts_meet_in_a_session_of(const App& app) {
  auto session = app.open();
  part_hook::reset(true);
  int n = 0;
  CHECK(eventually([&] {
    session.push(tiled_input(n));
    CHECK(is_computed(session.pop()->value(), n));
    ++n;
    return part_hook::meetings.load() != 0;
  }));
}
template <class Executor>
void parts_meet_in_a_session() {
  const auto app = tiled_app<Executor, 2>();
  parts_meet_in_a_session_of(app);
}

template <class Executor>
void one_thread_computes_the_whole() {
  const auto app = tiled_app<Executor, 1>();
  static_assert(decltype(app)::plan.unit[1].parts == 1);
  part_hook::reset(false);
  for (int n = 0; n < 50; ++n) CHECK(is_computed(app(tiled_input(n)), n));
  CHECK(part_hook::parts.load() == 3 * 50);
}

/// Threads that have items of their own compute them; those that have none may be in a part of another's.
template <class Executor>
void items_of_a_stream() {
  const auto app = tiled_app<Executor, 2>();
  std::vector<tiled_item> items;
  for (int n = 0; n < 200; ++n) items.push_back(tiled_input(n));
  part_hook::reset(false);
  int n = 0;
  for (auto&& r : app.stream(items)) {
    CHECK(is_computed(r.value(), n));
    ++n;
  }
  CHECK(n == 200);
  CHECK(part_hook::parts.load() >= 3 * 200);
  CHECK(part_hook::most.load() <= 2);
}

template <class Executor>
void calls_and_sessions_at_once() {
  const auto app = tiled_app<Executor, 3>();
  part_hook::reset(false);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < 200; ++n)
        if (!is_computed(app(tiled_input(n + t)), n + t)) ++wrong;
    });
  for (int s = 0; s < 2; ++s) {
    auto session = app.open();
    for (int n = 0; n < 200; ++n) {
      session.push(tiled_input(n));
      CHECK(is_computed(session.pop()->value(), n));
    }
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong.load() == 0);
}

/// Workers that were invited come when the app is gone.
template <class Executor>
void apps_end_at_once() {
  for (int n = 0; n < 300; ++n) CHECK(is_computed(tiled_app<Executor, 2>()(tiled_input(n)), n));
}

}  // namespace levada::test
