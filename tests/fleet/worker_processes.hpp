// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/worker_processes.hpp: the servers of processes that work for a fleet, and what its items fail with.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>

#include <doctest/doctest.h>

#include <levada/fleet/detail/jetstream.hpp>
#include <levada/remote/detail/device.hpp>

#include "fleet/nats_server.hpp"
#include "fleet/worker_program.hpp"

namespace levada::test {

/// Addresses with commas between; three of them keep all that they store three times.
inline jetstream servers_of(const std::string& urls) {
  jetstream servers;
  for (std::size_t from = 0; from <= urls.size();) {
    const std::size_t to = std::min(urls.find(',', from), urls.size());
    servers.urls.push_back(urls.substr(from, to - from));
    from = to + 1;
  }
  servers.replicas = static_cast<int>(servers.urls.size());
  return servers;
}

/// A case that needs a server goes on where there is one.
inline bool has_nats_server() {
  if (!nats_server::program().empty()) return true;
  MESSAGE("not tested: there is no nats-server");
  return false;
}

inline std::string failure_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const remote_error& e) {
    return e.what();
  } catch (...) {
    return "another exception";
  }
}

}  // namespace levada::test
