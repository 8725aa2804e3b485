// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/child.hpp: another program, which an example starts and which ends with it; and a nats-server as one.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "run.hpp"

namespace example {

/// It is killed where this ends, or the thread that started it.
class child {
 public:
  /// What it prints goes to `output`.
  explicit child(std::vector<std::string> words, int output = STDOUT_FILENO) {
    std::vector<char*> texts;
    for (std::string& w : words) texts.push_back(w.data());
    texts.push_back(nullptr);
    id_ = ::fork();
    if (id_ < 0) throw levada::error("no process can be started");
    if (id_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (output != STDOUT_FILENO) ::dup2(output, STDOUT_FILENO);
    ::execvp(texts[0], texts.data());
    ::_exit(127);
  }
  child(child&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  child& operator=(child&& other) noexcept {
    kill();
    id_ = std::exchange(other.id_, 0);
    return *this;
  }
  ~child() { kill(); }

  pid_t id() const { return id_; }
  void kill() {
    if (id_ == 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(std::exchange(id_, 0), nullptr, 0);
  }
  /// Asks it to end by SIGTERM, and waits until it has: whether it says that all went well.
  bool end() {
    int status = 0;
    ::kill(id_, SIGTERM);
    ::waitpid(std::exchange(id_, 0), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t id_ = 0;
};

/// A server of this machine alone, on a free port, which keeps what it stores as long as this lives.
class nats_server {
 public:
  nats_server()
      : folder_(std::filesystem::temp_directory_path() / ("levada_example_" + std::to_string(::getpid()))),
        server_({program(), "-js", "-a", "127.0.0.1", "-p", "-1", "-sd", (folder_ / "store").string(),
                 "--ports_file_dir", made(folder_), "-l", (folder_ / "log").string()}),
        url_(wait_for_address()) {}
  ~nats_server() {
    server_.kill();
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }
  nats_server(const nats_server&) = delete;

  const std::string& url() const { return url_; }

 private:
  static std::string program() {
    for (const char* const path : {"/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"})
      if (std::filesystem::exists(path)) return path;
    throw missing_data("nats-server is not there. It is in Debian's package of that name.");
  }
  static std::string made(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    return folder.string();
  }
  /// It writes a file with the port that it has.
  std::string wait_for_address() const {
    const auto file = folder_ / ("nats-server_" + std::to_string(server_.id()) + ".ports");
    for (int i = 0; i < 1000; ++i) {
      std::ifstream from(file);
      const std::string text{std::istreambuf_iterator<char>(from), {}};
      const std::size_t begin = text.find("nats://"), end = text.find('"', begin);
      if (begin != text.npos && end != text.npos) return text.substr(begin, end - begin);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw levada::error("nats-server does not listen");
  }

  const std::filesystem::path folder_;
  child server_;
  const std::string url_;
};

}  // namespace example
