// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/start_thread.hpp: a thread of ours.

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <levada/core/error.hpp>

namespace levada::detail {

template <class = void>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_thread(const char* whose, const std::system_error& why) {
  throw error(std::string("levada: the system gives no thread for ") + whose + ": " + why.what());
}

/// Throws levada::error where the system gives none.
template <class Thread = std::thread, class F>
Thread start_thread(const char* whose, F f) {
  try {
    return Thread(std::move(f));
  } catch (const std::system_error& why) {
    refuse_thread(whose, why);
  }
}

}  // namespace levada::detail
