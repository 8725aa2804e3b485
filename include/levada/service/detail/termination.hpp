// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/termination.hpp: waiting for the process to be told to end.

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <levada/core/error.hpp>

namespace levada::detail {

/// Where the handler of the signals writes; -1: nobody waits.
inline volatile std::sig_atomic_t termination_pipe = -1;

extern "C" inline void levada_tell_of_termination(int) {
  const int kept = errno;
  const char told = 1;
  static_cast<void>(!::write(static_cast<int>(termination_pipe), &told, 1));
  errno = kept;
}

/// Returns when SIGTERM or SIGINT came; their actions are as before then.
inline void await_termination() {
  int ends[2];
  if (::pipe(ends) != 0) throw error("levada: the system gives no pipe to wait for signals");
  termination_pipe = ends[1];
  struct sigaction ours {};
  ours.sa_handler = levada_tell_of_termination;
  ours.sa_flags = SA_RESTART;
  struct sigaction terminate {
  }, interrupt{};
  ::sigaction(SIGTERM, &ours, &terminate);
  ::sigaction(SIGINT, &ours, &interrupt);
  char told;
  while (::read(ends[0], &told, 1) < 0 && errno == EINTR) {
  }
  ::sigaction(SIGTERM, &terminate, nullptr);
  ::sigaction(SIGINT, &interrupt, nullptr);
  termination_pipe = -1;
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace levada::detail
