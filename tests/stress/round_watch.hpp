// SPDX-License-Identifier: Apache-2.0
#pragma once
// stress/round_watch.hpp: ends the program where a round hangs. Not by the clock alone: on a busy machine a thread that
// yields may come back after a tenth of a second, and a round of a second then takes minutes without standing still.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include <sanitizer.hpp>

namespace levada::test {

/// What a thread has had of a processor, and how long it was ready to run and had none.
struct processor_share {
  std::chrono::nanoseconds ran{0}, waited{0};
};
using shares_of_threads = std::map<std::string, processor_share>;

/// Of the threads of this program, by their numbers; none where the system does not say.
inline shares_of_threads shares_now() {
  shares_of_threads all;
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(task.path() / "schedstat");
    std::int64_t ran = 0, waited = 0;
    if (file >> ran >> waited)
      all[task.path().filename().string()] = {std::chrono::nanoseconds(ran), std::chrono::nanoseconds(waited)};
  }
  return all;
}

/// The time in which a program could have gone on: all of it, where none of its threads waited for a processor; else as
/// much as its threads ran.
class time_to_run {
 public:
  void restart() { had_ = {}; }
  /// So much time has passed, and the shares are these now.
  void pass(std::chrono::nanoseconds passed, const shares_of_threads& now) {
    processor_share of_all;
    for (const auto& [thread, share] : now) {
      const processor_share before = seen_[thread];
      of_all.ran += share.ran - before.ran, of_all.waited += share.waited - before.waited;
    }
    seen_ = now;
    had_ += of_all.waited > passed / 10 ? std::min(of_all.ran, passed) : passed;
  }
  std::chrono::nanoseconds had() const { return had_; }

 private:
  shares_of_threads seen_;
  std::chrono::nanoseconds had_{0};
};

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
    std::uint64_t seen = round_;
    time_to_run time;
    for (auto last = std::chrono::steady_clock::now(); !over_;) {
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return over_; });
      const auto now = std::chrono::steady_clock::now();
      time.pass(now - last, shares_now());
      last = now;
      if (round_ != seen) time.restart();
      seen = round_;
      if (over_ || time.had() < std::chrono::minutes(under_sanitizer ? 5 : 1)) continue;
      std::fprintf(stderr, "\nstress: the round of seed %llu hangs; LEVADA_SEED begins with it\n",
                   static_cast<unsigned long long>(seed_));
      std::fflush(nullptr);
      std::signal(SIGABRT, SIG_DFL);  // doctest's handler would wait for this thread
      std::abort();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t seed_ = 0, round_ = 0;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace levada::test
