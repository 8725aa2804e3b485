// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/sink_cases.hpp: sessions that end in a sink, where nobody asks for results: workers have to be brought.

#include <explore/stages.hpp>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <explore/one_worker.hpp>

#include <levada/run/deploy.hpp>

namespace levada::test {

/// Nobody asks for what comes to an end in a sink: a worker has to be brought.
inline void into_a_sink(int count, bool by_trying) {
  static detail::atomic<int> arrived{0};
  arrived.store(0);
  const auto app = deployed<2, slots<8>>(input<int> | stage<"a">(slow) | sink<"s">([](const int& x) {
                                           arrived.store(x + 1);
                                           arrived.notify_all();
                                         }));
  auto session = app.open();
  for (int i = 0; i < count; ++i) {
    if (by_trying)
      require(session.try_push(i), "no room");
    else
      session.push(i);
    arrived.wait(i);
  }
  session.close();
  session.drain();
  check_over(session);
  check_counts(session.counts(), static_cast<std::uint64_t>(count));
}

/// The same beside a session of the app that another thread feeds, with a thread of its own, for one permit.
template <class Executor>
void beside_a_fed_one(int count, bool and_another_app = false) {
  static detail::atomic<int> arrived{0};
  arrived.store(0);
  at_work = 0, permits_of_case = 1;
  const auto app = deploy<target<cpu<1>>, run_by<Executor>>(input<int> | stage<"a">(+[](const int& x) {
                                                              const working here;
                                                              explorer()->takes(std::chrono::milliseconds(1));
                                                              return x;
                                                            }) |
                                                            sink<"s">([](const int& x) {
                                                              if (x < 0) return;
                                                              arrived.store(x + 1);
                                                              arrived.notify_all();
                                                            }));
  auto fed = app.template open<dedicated>();
  detail::atomic<bool> stop{false};
  detail::thread feeder([&] {
    while (!stop.load()) fed.push(-1), detail::yield_thread();
    fed.close();
  });
  auto now_and_then = app.open();
  // Its items need the worker, too, which waits for a permit of the first app.
  static detail::atomic<int> elsewhere{0};
  elsewhere.store(0);
  const auto other_app = deploy<target<cpu<2>>, run_by<Executor>>(input<int> | sink<"s">([](const int& x) {
                                                                    elsewhere.store(x + 1);
                                                                    elsewhere.notify_all();
                                                                  }));
  auto other = other_app.open();
  for (int i = 0; i < count; ++i) {
    now_and_then.push(i);
    if (and_another_app) other.push(i);
    arrived.wait(i);
    if (and_another_app) elsewhere.wait(i);
  }
  stop.store(true);
  feeder.join();
  now_and_then.close();
  now_and_then.drain();
  check_counts(now_and_then.counts(), static_cast<std::uint64_t>(count));
}

/// Sessions of two apps, each with one permit and fed by a thread of its own, that nobody waits for and one worker
/// runs.
inline void sinks_of_two_apps(int sessions, int count) {
  struct place {
    detail::atomic<int> arrived{0};
  };
  at_work = 0, permits_of_case = 2;
  const auto deployed = [] {
    return deploy<target<cpu<1>>, run_by<one_worker_for_all>>(input<std::pair<place*, int>> |
                                                              sink<"s">([](const std::pair<place*, int>& x) {
                                                                const working here;
                                                                explorer()->takes(std::chrono::microseconds(300));
                                                                x.first->arrived.store(x.second + 1);
                                                                x.first->arrived.notify_all();
                                                              }));
  };
  const auto one = deployed(), other = deployed();
  const auto turn = [&](const auto& app) {
    place here;
    auto session = app.open();
    for (int i = 0; i < count; ++i) {
      session.push({&here, i});
      here.arrived.wait(i);
    }
    session.drain();
    check_counts(session.counts(), static_cast<std::uint64_t>(count));
  };
  std::vector<detail::thread> others;
  for (int i = 1; i < sessions; ++i) others.emplace_back([&, i] { turn(i % 2 == 0 ? one : other); });
  turn(one);
  for (detail::thread& t : others) t.join();
}

}  // namespace levada::test
