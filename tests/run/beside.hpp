// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/beside.hpp: sessions beside one that has work without end.

#include <atomic>
#include <chrono>
#include <thread>

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

/// Whether sessions with these options that are used only through try_* make progress while another one of the app is fed and
/// popped by threads of its own without end.
template <class... Options, class App>
bool is_served_beside_a_fed_one(const App& app) {
  std::atomic<bool> stop{false};
  auto fed = app.open();
  std::thread feeder([&] {
    while (!stop) fed.push(1);
    fed.close();
  });
  std::thread popper([&] {
    while (fed.pop()) {
    }
  });
  bool served = true;
  for (int turn = 0; turn < 4; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the worker is at the other by then
    auto trying = app.template open<Options...>();
    served = served && drives_by_trying(trying, 10);
  }
  stop = true;
  feeder.join();
  popper.join();
  return served;
}

}  // namespace levada::test
