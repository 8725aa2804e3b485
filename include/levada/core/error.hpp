// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/error.hpp: the exceptions of levada at run time. A mistake that can be known earlier is a compile error.

#include <stdexcept>
#include <string>

#include <levada/core/detail/needs_exceptions.hpp>

namespace levada {

/// The base of every exception that levada itself throws: the message names the stage, file or tensor and what is
/// wrong. Exceptions of user callables are passed on as they are.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A device failed or was lost; delivered at each item it held.
class device_error : public error {
 public:
  using error::error;
};

/// The item was given up because its session was cancelled.
class cancelled : public error {
 public:
  using error::error;
};

}  // namespace levada
