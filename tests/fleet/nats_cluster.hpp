// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/nats_cluster.hpp: three servers of a test's own that keep each stream three times.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <levada/fleet/detail/nats.hpp>

#include "fleet/nats_server.hpp"
#include "fleet/worker_processes.hpp"
#include "run/progress.hpp"

namespace levada::test {

/// Ports of this machine that nobody has yet.
template <std::size_t Count>
std::array<int, Count> free_ports() {
  std::array<int, Count> ports{}, sockets{};
  for (std::size_t i = 0; i < Count; ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    sockets[i] = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::bind(sockets[i], reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &length) != 0)
      throw std::runtime_error("no port is free");
    ports[i] = ntohs(address.sin_port);
  }
  for (const int s : sockets) ::close(s);
  return ports;
}

class nats_cluster {
 public:
  static constexpr std::size_t count = 3;

  nats_cluster() {
    const std::array<int, count> routes = free_ports<count>();
    for (std::size_t i = 0; i < count; ++i)
      servers_.emplace_back([routes, i](const std::filesystem::path& folder, const std::string& listen) {
        std::string text = nats_server::plain(folder, listen);
        text += "server_name: " + name(i) + "\ncluster { name: three, listen: \"127.0.0.1:" + std::to_string(routes[i]);
        text += "\", routes: [";
        for (const int port : routes) text += "\"nats://127.0.0.1:" + std::to_string(port) + "\", ";
        return text + "] }\n";
      });
    // Streams can be made when the three have found each other and chosen who leads.
    if (!eventually([&] { return keeps_three(); })) throw std::runtime_error("three nats-servers do not find a leader");
  }
  /// With commas between.
  std::string urls() const {
    std::string all;
    for (const nats_server& s : servers_) all += (all.empty() ? "" : ",") + s.url();
    return all;
  }
  nats_server& operator[](std::size_t i) { return servers_[i]; }

  /// Of the stream; `count` where it has none, or nobody answers.
  std::size_t leader_of(const std::string& stream) const {
    std::size_t found = count;
    look_at(stream, [&](const jsClusterInfo& c) {
      for (std::size_t i = 0; i < count; ++i)
        if (c.Leader != nullptr && c.Leader == name(i)) found = i;
    });
    return found;
  }
  /// Both who follow have all that the leader has.
  bool is_whole(const std::string& stream) const {
    bool whole = false;
    look_at(stream, [&](const jsClusterInfo& c) {
      whole = c.Leader != nullptr && c.ReplicasLen == static_cast<int>(count) - 1;
      for (int i = 0; i < c.ReplicasLen; ++i) whole = whole && c.Replicas[i]->Current && !c.Replicas[i]->Offline;
    });
    return whole;
  }

 private:
  static std::string name(std::size_t i) { return "server" + std::to_string(i); }

  template <class Look>
  void look_at(const std::string& stream, Look look) const {
    try {
      const detail::nats_connection by("the test", servers_of(urls()), "the test");
      jsStreamInfo* info = nullptr;
      if (js_GetStreamInfo(&info, by.stored(), stream.c_str(), nullptr, nullptr) != NATS_OK) return;
      const std::unique_ptr<jsStreamInfo, detail::nats_deleter<jsStreamInfo_Destroy>> kept(info);
      if (info->Cluster != nullptr) look(*info->Cluster);
    } catch (const remote_error&) {  // none of them is there
    }
  }
  bool keeps_three() const {
    try {
      const detail::nats_connection by("the test", servers_of(urls()), "the test");
      const char* subject = "levada.test.three";
      jsStreamConfig c;
      jsStreamConfig_Init(&c);
      c.Name = "three";
      c.Subjects = &subject;
      c.SubjectsLen = 1;
      c.Replicas = static_cast<std::int64_t>(count);
      jsStreamInfo* info = nullptr;
      if (js_AddStream(&info, by.stored(), &c, nullptr, nullptr) != NATS_OK) return false;
      jsStreamInfo_Destroy(info);
      return js_DeleteStream(by.stored(), c.Name, nullptr, nullptr) == NATS_OK;
    } catch (const remote_error&) {
      return false;
    }
  }

  std::deque<nats_server> servers_;
};

}  // namespace levada::test
