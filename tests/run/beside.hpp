// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/beside.hpp: sessions beside one that has work without end.

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <levada/run/deploy.hpp>

#include <run/progress.hpp>

namespace levada::test {

/// A stage of 100 us that computes.
inline auto spinning() {
  return input<int> | stage<"spin">(parallel([](const int& v) {
           const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
           while (std::chrono::steady_clock::now() < until) {
           }
           return v;
         }));
}

/// A session that threads of its own feed and pop without end.
template <class Session>
class fed_session {
 public:
  explicit fed_session(Session of) : session_(std::move(of)) {
    feeder_ = std::thread([this] {
      while (!stop_) push();
      session_.close();
    });
    popper_ = std::thread([this] {
      while (!session_.is_over()) pop();
    });
  }
  ~fed_session() { stop(); }
  void stop() {
    stop_ = true;
    if (feeder_.joinable()) feeder_.join();
    if (popper_.joinable()) popper_.join();
  }

 private:
  // A realtime session has the calls that never wait alone.
  void push() {
    if constexpr (requires { session_.push(1); })
      session_.push(1);
    else if (!session_.try_push(1))
      std::this_thread::yield();
  }
  void pop() {
    if constexpr (requires { session_.pop(); })
      session_.pop();
    else if (!session_.try_pop())
      std::this_thread::yield();
  }

  Session session_;
  std::atomic<bool> stop_{false};
  std::thread feeder_, popper_;
};

/// Whether sessions of the app, one after the other, are done with what `drive` does to them, while `fed` is fed.
template <class... Options, class App, class Session, class Drive>
bool is_served_beside(fed_session<Session>& fed, const App& app, Drive drive) {
  std::atomic<bool> done{false};
  std::thread user([&] {
    for (int turn = 0; turn < 4; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the workers are at the other by then
      auto session = app.template open<Options...>();
      drive(session);
    }
    done = true;
  });
  const bool served = eventually([&] { return done.load(); });
  if (!served) fed.stop();  // so that this ends
  user.join();
  return served;
}

/// By `try_push` and `try_pop`; by one thread that waits for each result; by one that pushes and one that pops.
inline constexpr auto by_trying = [](auto& session) { drives_by_trying(session, 10); };
inline constexpr auto one_by_one = [](auto& session) {
  for (int i = 0; i < 10; ++i) {
    session.push(i);
    session.pop();
  }
};
inline constexpr auto by_two_threads = [](auto& session) {
  std::thread pusher([&] {
    for (int i = 0; i < 10; ++i) session.push(i);
    session.close();
  });
  while (session.pop()) {
  }
  pusher.join();
};

/// Whether an app's sessions of all kinds are served beside one that was opened with these options.
template <class... Fed, class App>
bool all_are_served_beside_a_fed_one(const App& app) {
  fed_session fed(app.template open<Fed...>());
  return is_served_beside(fed, app, by_trying) && is_served_beside<dedicated>(fed, app, by_trying) &&
         is_served_beside<realtime>(fed, app, by_trying) && is_served_beside(fed, app, one_by_one) &&
         is_served_beside<dedicated>(fed, app, one_by_one) && is_served_beside(fed, app, by_two_threads);
}

}  // namespace levada::test
