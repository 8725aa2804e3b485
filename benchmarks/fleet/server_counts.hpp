// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/server_counts.hpp: a server of the benchmark's own that says how many messages have gone through it.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fleet/nats_server.hpp"

/// Messages that clients have sent and were sent, requests and acknowledgements among them, and the server's memory.
struct server_counts {
  double in = 0, out = 0, bytes_in = 0, memory = 0;
};

class counting_server {
 public:
  counting_server()
      : server_([this](const std::filesystem::path& folder, const std::string& listen) {
          folder_ = folder;
          return levada::test::nats_server::plain(folder, listen) + "http: \"127.0.0.1:-1\"\n";
        }) {
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "ports")) {
      std::ifstream from(file.path());
      const std::string text(std::istreambuf_iterator<char>(from), {});
      port_ = static_cast<std::uint16_t>(number_behind(text, "http://127.0.0.1:"));
    }
    if (port_ == 0) throw std::runtime_error("nats-server has no page of its counts");
  }

  std::string url() const { return server_.url(); }
  server_counts counts() const {
    const std::string page = read_page();
    return {number_behind(page, "\"in_msgs\": "), number_behind(page, "\"out_msgs\": "),
            number_behind(page, "\"in_bytes\": "), number_behind(page, "\"mem\": ")};
  }

 private:
  static double number_behind(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    std::uint64_t value = 0;
    if (at != text.npos) std::from_chars(text.data() + at + word.size(), text.data() + text.size(), value);
    return static_cast<double>(value);
  }
  std::string read_page() const {
    const int to = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string page;
    constexpr std::string_view request = "GET /varz HTTP/1.0\r\n\r\n";
    if (::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::write(to, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      char some[4096];
      for (ssize_t count = 0; (count = ::read(to, some, sizeof some)) > 0;)
        page.append(some, static_cast<std::size_t>(count));
    }
    ::close(to);
    return page;
  }

  std::filesystem::path folder_;
  levada::test::nats_server server_;
  std::uint16_t port_ = 0;
};
