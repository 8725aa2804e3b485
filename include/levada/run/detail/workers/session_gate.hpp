// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/workers/session_gate.hpp: the meeting place of a session and the workers that were invited to it,
// whichever is first gone.

#include <atomic>
#include <mutex>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// The gate between a session and workers that were invited and may come late, when the session and its deployment are
/// gone, or never: a session that has closed it is not touched again. Doors are used again and never destroyed.
template <class = void>
class basic_session_gate {
 public:
  /// A gate to `session`, held by the caller.
  static basic_session_gate& open(void* session) {
    pool& all = gates();
    const std::lock_guard lock(all.mutex);
    basic_session_gate* gate = all.free;
    if (gate == nullptr)
      gate = new basic_session_gate;
    else
      all.free = gate->next_free_;
    gate->holders_.store(1);
    gate->session_.store(session);
    return *gate;
  }

  void add_holder() { holders_.fetch_add(1); }
  void remove_holder() {
    if (holders_.fetch_sub(1) != 1) return;
    pool& all = gates();
    const std::lock_guard lock(all.mutex);
    next_free_ = exchange_value(all.free, this);
  }

  /// The session, kept alive until `leave`; or null where it has closed.
  void* enter() {
    inside_.fetch_add(1);
    void* const session = session_.load();
    if (session == nullptr) leave();
    return session;
  }
  void leave() {
    if (inside_.fetch_sub(1) == 1) inside_.notify_all();
  }
  /// From here on nobody enters; returns when nobody is inside. Whoever is has been told to go, and is gone in a
  /// moment.
  void close() {
    session_.store(nullptr);
    for (int i = 0; i < 1'000 && inside_.load() != 0; ++i) spin_pause();
    for (int inside = inside_.load(); inside != 0; inside = inside_.load()) inside_.wait(inside);
  }

 private:
  /// Reachable to the end of the process, since an invitation may outlive everything else: the list of all gates, too.
  struct pool {
    detail::mutex mutex;
    basic_session_gate* free = nullptr;
    basic_session_gate* all = nullptr;
  };
  static pool& gates() {
    static pool& p = *new pool;
    return p;
  }

  basic_session_gate() : next_(exchange_value(gates().all, this)) {}

  atomic<void*> session_{nullptr};
  atomic<int> inside_{0};
  atomic<int> holders_{0};
  basic_session_gate* next_free_ = nullptr;
  basic_session_gate* next_;
};
using session_gate = basic_session_gate<>;

/// Open to a session as long as it lives.
template <class = void>
class basic_open_gate {
 public:
  explicit basic_open_gate(void* session) : gate_(session_gate::open(session)) {}
  basic_open_gate(const basic_open_gate&) = delete;
  basic_open_gate& operator=(const basic_open_gate&) = delete;
  ~basic_open_gate() {
    gate_.close();
    gate_.remove_holder();
  }
  session_gate* get() const { return &gate_; }

 private:
  session_gate& gate_;
};
using open_gate = basic_open_gate<>;

}  // namespace levada::detail
