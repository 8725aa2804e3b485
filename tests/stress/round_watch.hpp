// SPDX-License-Identifier: Apache-2.0
#pragma once
// stress/round_watch.hpp: ends the program where a round hangs.

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include <sanitizer.hpp>
#include <time_to_run.hpp>

namespace levada::test {

/// Ends the program where a round could have run for a minute, and says which one it was.
class round_watch {
 public:
  round_watch() : thread_([this] { watch(); }) {}
  ~round_watch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void begins(std::uint64_t seed) {
    const std::lock_guard lock(mutex_);
    seed_ = seed;
    ++round_;
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    std::optional<patience> of_round;
    for (std::uint64_t seen = 0; !over_;) {
      if (!of_round || round_ != seen) of_round.emplace(std::chrono::seconds(0), most);
      seen = round_;
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return over_; });
      if (over_ || round_ != seen || !of_round->is_over()) continue;
      std::fprintf(stderr, "\nstress: the round of seed %llu hangs; LEVADA_SEED begins with it\n",
                   static_cast<unsigned long long>(seed_));
      std::fflush(nullptr);
      std::signal(SIGABRT, SIG_DFL);  // doctest's handler would wait for this thread
      std::abort();
    }
  }

  static constexpr std::chrono::minutes most{under_sanitizer ? 5 : 1};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t seed_ = 0, round_ = 0;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace levada::test
