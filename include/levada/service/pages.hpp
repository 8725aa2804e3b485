// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/pages.hpp: texts of a program by HTTP, such as the metrics of a service and the page of its plan. Needs
// cpp-httplib (Debian package libcpp-httplib-dev; pkg-config `cpp-httplib`).

#include <sys/socket.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <httplib.h>
#undef _res  // a macro of <resolv.h>, which that brings, and a name in Eigen

#include <levada/core/detail/start_thread.hpp>
#include <levada/core/error.hpp>
#include <levada/remote/detail/this_machine.hpp>

namespace levada {

/// A text that is made whenever it is asked for, by a thread of the server.
struct page {
  std::string path;  ///< "/metrics"
  std::string type;  ///< "text/plain; version=0.0.4", "text/html"
  std::function<std::string()> make;
};

/// Shows pages until this ends, to this machine alone: HTTP has neither certificates nor encryption here.
class page_server {
 public:
  /// `host`: "127.0.0.1", "localhost", "[::1]"; port 0: any. Throws levada::error where it is another machine, or it
  /// cannot listen there.
  page_server(const std::string& host, int port, std::vector<page> pages) : pages_(std::move(pages)) {
    if (!detail::is_this_machine(host + ':'))
      throw error("levada: pages go to no other machine, and \"" + host + "\" is not this one");
    for (const page& p : pages_)
      server_.Get(p.path,
                  [&p](const httplib::Request&, httplib::Response& to) { to.set_content(p.make(), p.type.c_str()); });
    // A port that another has is refused: by itself the library lets two share it.
    server_.set_socket_options([](int descriptor) {
      const int yes = 1;
      ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.new_task_queue = [] { return new httplib::ThreadPool(1); };
    server_.set_keep_alive_max_count(1);  // whoever stays does not hold up the end
    port_ = port == 0 ? server_.bind_to_any_port(host.c_str()) : server_.bind_to_port(host.c_str(), port) ? port : -1;
    if (port_ < 0) throw error("levada: pages cannot be shown at \"" + host + ':' + std::to_string(port) + '"');
    thread_ = detail::start_thread("pages", [this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // before that it cannot be stopped
  }
  page_server(const page_server&) = delete;
  page_server& operator=(const page_server&) = delete;
  ~page_server() {
    server_.stop();
    thread_.join();
  }

  /// Which the system chose where none was given.
  int port() const { return port_; }

 private:
  const std::vector<page> pages_;
  httplib::Server server_;
  int port_ = -1;
  std::thread thread_;
};

}  // namespace levada
