// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/thread_mark.hpp: the identity of a thread, compared for each item: std::thread::id takes a call.

#include <levada/run/detail/workers/threading.hpp>

#ifndef LEVADA_THREADS_OF_TEST
namespace levada::detail {

/// Of no thread: null. That of a thread that has ended may be another's later.
using thread_mark = const void*;

inline thread_mark this_thread_mark() noexcept {
  static constinit thread_local char mark = 0;
  return &mark;
}

}  // namespace levada::detail
#endif
