// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/left_session.hpp: the session that the last stream of a deployment has left, for the next one.

#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// One session at most. Threads may leave and take one at once: each that is left is taken by one of them.
template <class Session>
class left_session {
 public:
  left_session() = default;
  left_session(const left_session&) = delete;
  left_session& operator=(const left_session&) = delete;
  ~left_session() { end(); }

  owner<Session> take() { return owner<Session>(is_there() ? kept_.exchange(nullptr) : nullptr); }
  void leave(owner<Session> session) { owner<Session>(kept_.exchange(session.release())); }
  /// None is kept any more. Returns when nothing of it runs.
  void end() { take(); }

 private:
  bool is_there() const { return kept_.load() != nullptr; }

  atomic<Session*> kept_{nullptr};
};

}  // namespace levada::detail
