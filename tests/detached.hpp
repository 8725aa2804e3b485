// SPDX-License-Identifier: Apache-2.0
#pragma once
// The smallest coroutine type.

#include <coroutine>
#include <exception>

namespace levada::test {

/// A coroutine that starts at once and frees itself.
struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

}  // namespace levada::test
