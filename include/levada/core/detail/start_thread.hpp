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

/// Says by `is_over`, which `mutex` guards, that the thread ends, and waits until it has.
template <class Mutex, class Changed>
void end_thread(std::thread& thread, Mutex& mutex, bool& is_over, Changed& changed) {
  mutex.lock();
  is_over = true;
  mutex.unlock();
  changed.notify_all();
  thread.join();
}

}  // namespace levada::detail
