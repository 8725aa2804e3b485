// SPDX-License-Identifier: Apache-2.0
#pragma once
// common/run.hpp: how an example ends that lacks a file, or fails otherwise.

#include <cstdio>
#include <exception>

#include <levada/core/error.hpp>

namespace example {

/// A file that an example needs is not on this machine; the message says what to install.
class missing_data : public levada::error {
 public:
  using error::error;
};

/// Runs the example: its own exit status, or 1 after an exception, or 77 (skipped, for ctest) when data is missing.
template <class Body>
int run(Body body) {
  try {
    return body();
  } catch (const missing_data& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 77;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

}  // namespace example
