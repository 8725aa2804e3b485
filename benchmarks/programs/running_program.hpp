// SPDX-License-Identifier: Apache-2.0
#pragma once
// programs/running_program.hpp: a program that was just begun, and what it takes of the machine.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <levada/core/error.hpp>

extern char** environ;

namespace programs {

class running_program {
 public:
  /// The program and its arguments.
  explicit running_program(const std::vector<std::string>& command) : name_(command.at(0)), own_(command) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw levada::error("no pipe");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const int failure = ::posix_spawn(&process_, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]), ::close(out[1]);
    to_ = in[1], from_ = out[0];
    if (failure != 0) {
      ::close(to_), ::close(from_);
      throw levada::error(name_ + ": " + std::strerror(failure));
    }
  }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() { end(); }

  /// All that it writes, when it closes its output.
  std::vector<float> result() {
    std::vector<float> all;
    std::size_t used = 0;
    for (;;) {
      if (used == sizeof(float) * all.size()) all.resize(2 * all.size() + 4096);
      const ssize_t got =
          ::read(from_, reinterpret_cast<std::byte*>(all.data()) + used, sizeof(float) * all.size() - used);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      used += static_cast<std::size_t>(got);
    }
    all.resize(used / sizeof(float));
    if (all.empty()) throw levada::error(name_ + " gives no result");
    return all;
  }

  /// Bytes of memory that it has had at most.
  std::size_t resident() const {
    std::ifstream status("/proc/" + std::to_string(process_) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return 1024 * std::stoull(line.substr(6));
    throw levada::error(name_ + " is not there any more");
  }

  /// Bytes of the files that it has mapped, without those of its command.
  std::size_t libraries() const {
    std::ifstream maps("/proc/" + std::to_string(process_) + "/maps");
    std::set<std::string> files;
    for (std::string line; std::getline(maps, line);)
      if (const std::size_t path = line.find('/'); path != std::string::npos) files.insert(line.substr(path));
    std::size_t bytes = 0;
    for (const std::string& file : files)
      if (std::none_of(own_.begin(), own_.end(),
                       [&](const auto& own) { return std::filesystem::equivalent(file, own); }))
        bytes += std::filesystem::file_size(file);
    return bytes;
  }

  /// Lets it go, and says its exit status.
  int end() {
    if (process_ < 0) return 0;
    ::close(to_), ::close(from_);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string name_;
  std::vector<std::string> own_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace programs
