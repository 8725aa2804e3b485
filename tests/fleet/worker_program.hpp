// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/worker_program.hpp: processes of this very program that work for a fleet.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "fleet/nats_server.hpp"

namespace levada::test {

/// One is started with a variable that names its server, and then does nothing else.
class worker_program {
 public:
  /// `works` does not return.
  worker_program(const char* variable, void (*works)(const std::string& url)) : variable_(variable) {
    const char* const url = std::getenv(variable);
    if (url == nullptr) return;
    try {
      works(url);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    std::_Exit(1);
  }
  process start(const std::string& url) const {
    return process("/proc/self/exe", {}, std::string(variable_) + "=" + url);
  }

 private:
  const char* variable_;
};

}  // namespace levada::test
