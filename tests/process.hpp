// SPDX-License-Identifier: Apache-2.0
#pragma once
// process.hpp: other programs, and this one again, as processes that a test kills, stops and lets go on.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace levada::test {

/// A thread that lives as long as this program. The system tells a child that its parent died when the thread of it
/// dies that started it.
class lasting_thread {
 public:
  static lasting_thread& of_this_program() {
    static lasting_thread one;
    return one;
  }
  ~lasting_thread() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// Returns when it has done it.
  void run(const std::function<void()>& what) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return what_ == nullptr; });
    what_ = &what;
    const std::uint64_t mine = ++given_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return done_ >= mine; });
  }

 private:
  lasting_thread()
      : thread_([this] {
          std::unique_lock lock(mutex_);
          for (;;) {
            changed_.wait(lock, [this] { return is_over_ || what_ != nullptr; });
            if (is_over_) return;
            (*what_)();
            what_ = nullptr;
            ++done_;
            changed_.notify_all();
          }
        }) {}

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* what_ = nullptr;
  std::uint64_t given_ = 0, done_ = 0;
  bool is_over_ = false;
  std::thread thread_;  ///< behind all that it looks at
};

/// Runs a program until it is killed, or this ends. It dies with this program, however that ends.
class process {
 public:
  process(const std::string& program, std::vector<std::string> arguments, const std::string& variable = {}) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (std::string& a : arguments) words.push_back(a.data());
    words.push_back(nullptr);
    std::vector<char*> variables;
    for (char** v = environ; *v != nullptr; ++v) variables.push_back(*v);
    if (!variable.empty()) variables.push_back(const_cast<char*>(variable.c_str()));
    variables.push_back(nullptr);
    if (::access(program.c_str(), X_OK) != 0) throw std::runtime_error(program + " does not start");
    const pid_t parent = ::getpid();
    lasting_thread::of_this_program().run([&] {
      id_ = ::fork();
      if (id_ != 0) return;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) ::execve(program.c_str(), words.data(), variables.data());
      ::_exit(127);
    });
    if (id_ < 0) throw std::runtime_error(program + " does not start");
  }
  process(process&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  process& operator=(process&& other) noexcept {
    kill();
    id_ = std::exchange(other.id_, 0);
    return *this;
  }
  ~process() { kill(); }

  void send(int signal) const {
    if (id_ != 0) ::kill(id_, signal);
  }
  void kill() {
    if (id_ == 0) return;
    send(SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = 0;
  }
  /// Its exit status, when it has ended; -1 where a signal ended it.
  int status() {
    int how = 0;
    if (id_ == 0 || ::waitpid(std::exchange(id_, 0), &how, 0) < 0) return -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
  }
  /// By a signal of its own, or by itself.
  bool has_ended() {
    if (id_ != 0 && ::waitpid(id_, nullptr, WNOHANG) == id_) id_ = 0;
    return id_ == 0;
  }

 private:
  pid_t id_ = 0;
};

}  // namespace levada::test
