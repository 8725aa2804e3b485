// SPDX-License-Identifier: Apache-2.0
#pragma once
// time_to_run.hpp: for how long a program could have gone on. A test that waits for something takes it for a hang by
// that and not by the clock: on a busy machine a thread that yields may come back after a tenth of a second, and what
// takes a second then takes minutes without standing still.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

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

/// Over when the program could have gone on for so long behind the first that is given by the clock. Until then nothing
/// is allocated.
class patience {
 public:
  patience(std::chrono::nanoseconds by_the_clock, std::chrono::nanoseconds most)
      : looks_from_(std::chrono::steady_clock::now() + by_the_clock), most_(most) {}

  /// Looks once a second.
  bool is_over() {
    const auto now = std::chrono::steady_clock::now();
    if (now >= looks_from_ + std::chrono::seconds(1)) {
      time_.pass(now - looks_from_, shares_now());
      looks_from_ = now;
    }
    return time_.had() >= most_;
  }

 private:
  std::chrono::steady_clock::time_point looks_from_;
  const std::chrono::nanoseconds most_;
  time_to_run time_;
};

}  // namespace levada::test
