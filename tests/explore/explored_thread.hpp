// SPDX-License-Identifier: Apache-2.0
#pragma once
// explore/explored_thread.hpp: a thread whose every step a scheduler chooses, and its stores that nobody else sees yet.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <csetjmp>

#include <explore/causal_order.hpp>

namespace levada::test {

/// A store in the buffer of its thread.
struct late_store {
  const void* at;
  unsigned char bytes[16];
  void (*apply)(void* at, const unsigned char* bytes);
  causal_order::past past;  ///< of the thread, when it stored
};

/// Of those of a thread, what the runtime of C++ keeps.
struct exceptions_of_thread {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

/// It may be copied and put back with its stack.
struct explored_thread {
  std::size_t index = 0;
  std::jmp_buf left;                ///< where it was left
  std::byte* stack_used = nullptr;  ///< from here up
  bool has_begun = false;
  exceptions_of_thread own;
  causal_order::past past;
  const void* waits_for = nullptr;
  const void* next_at = nullptr;  ///< the operation that comes next, where it was preempted before one
  access next_access = access::write;
  bool is_passed_over = false;
  bool ended = false;
  std::int64_t priority = 0;
  std::uint64_t yields = 0;
  std::size_t stores = 0;  ///< in the buffer, oldest first
  std::array<late_store, 32> buffer;

  std::span<late_store> late() { return {buffer.data(), stores}; }
  bool stores_to(const void* at) {
    return std::any_of(late().begin(), late().end(), [&](const late_store& s) { return s.at == at; });
  }
};

}  // namespace levada::test
