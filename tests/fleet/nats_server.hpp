// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/nats_server.hpp: a server of a test's own, on a port that the system chooses, with a store in a temporary
// folder; and processes of this program that work for a fleet.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "run/progress.hpp"

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
  /// By a signal of its own, or by itself.
  bool has_ended() {
    if (id_ != 0 && ::waitpid(id_, nullptr, WNOHANG) == id_) id_ = 0;
    return id_ == 0;
  }

 private:
  pid_t id_ = 0;
};

class nats_server {
 public:
  /// Where there is none on this machine, empty.
  static std::string program() {
    for (const char* const path : {"/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"})
      if (std::filesystem::exists(path)) return path;
    return {};
  }

  /// What the server is told, by its folder and the address that it has.
  using configuration = std::function<std::string(const std::filesystem::path&, const std::string&)>;
  static std::string plain(const std::filesystem::path& folder, const std::string& listen) {
    return "listen: \"" + listen + "\"\njetstream { store_dir: \"" + (folder / "store").string() + "\" }\n";
  }

  explicit nats_server(configuration of = plain)
      : configure_(std::move(of)),
        folder_(std::filesystem::temp_directory_path() /
                ("levada_fleet_" + std::to_string(::getpid()) + "_" + std::to_string(count_++))) {
    std::filesystem::create_directories(folder_);
    start();
  }
  ~nats_server() {
    kill();
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }

  std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }
  void kill() { server_.reset(); }
  /// On the port that it had.
  void start() {
    const auto ports = folder_ / "ports";
    std::filesystem::remove_all(ports);
    std::filesystem::create_directories(ports);
    std::ofstream(folder_ / "server.conf")
        << configure_(folder_, "127.0.0.1:" + std::to_string(port_ == 0 ? -1 : port_)) << "ports_file_dir: \""
        << ports.string() << "\"\nlog_file: \"" << (folder_ / "log").string() << "\"\n";
    server_.emplace(program(), std::vector<std::string>{"-c", (folder_ / "server.conf").string()});
    const auto listens = [&] {
      for (const auto& file : std::filesystem::directory_iterator(ports)) {
        std::string line;
        std::ifstream from(file.path());
        std::getline(from, line, '\0');
        const std::size_t at = line.find("://127.0.0.1:");
        if (at == line.npos) continue;
        port_ = std::stoi(line.substr(at + 13));
        return true;
      }
      return false;
    };
    if (!eventually(listens)) throw std::runtime_error("nats-server does not listen");
  }

 private:
  static inline int count_ = 0;
  const configuration configure_;
  std::filesystem::path folder_;
  int port_ = 0;
  std::optional<process> server_;
};

}  // namespace levada::test
