// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/nats_server.hpp: a server of a test's own, on a port that the system chooses, with a store in a temporary
// folder.

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "process.hpp"
#include "run/progress.hpp"

namespace levada::test {

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
