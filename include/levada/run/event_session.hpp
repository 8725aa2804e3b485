// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/event_session.hpp: a session with a file descriptor that is readable when a result waits. For poll and epoll, on
// Linux.

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <levada/core/detail/result.hpp>
#include <levada/core/error.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {

/// A session for an event loop: `event_session session(app.open())`. `descriptor()` becomes readable when a result
/// waits, and stays so until `try_pop` found nothing; when the session is over it is readable for good. One thread
/// pushes and one pops at a time. Neither `try_push` nor `try_pop` ever blocks. Throws levada::error where the system
/// has no descriptor left.
template <class Session>
class event_session : public detail::pushed_session_calls<event_session<Session>, Session> {
  friend detail::session_calls<event_session, Session>;

 public:
  using output = typename Session::output;

  explicit event_session(Session of) : core_(std::make_unique<core_state>(std::move(of))) {
    core_->completed.items().invite_always();
    core_->completed.start([core = core_.get()] { core->watch(); });
  }
  event_session(event_session&&) = default;
  event_session& operator=(event_session&&) = delete;
  ~event_session() {
    if (core_) core_->end();
  }

  /// Works and waits until all that was pushed is finished and waits to be popped.
  void drain() { this->session().drain(); }
  /// `drain`, and every stage has the state that it had when the session was opened. No other thread pushes meanwhile.
  void reset() { this->session().reset(); }

  /// To be polled for reading, and never read, written or closed.
  int descriptor() const { return core_->events.descriptor; }

  /// The next result. Empty where the descriptor is not readable; where nothing is left, it is readable from then on no
  /// more.
  std::optional<popped_result<output>> try_pop() {
    return pop_with([&] { return this->session().try_pop(); });
  }
  std::optional<popped_result<output>> try_pop(item_envelope& envelope) {
    return pop_with([&] { return this->session().try_pop(envelope); });
  }

 private:
  /// Whose turn it is to look for results.
  enum class turn { watcher, caller, over };

  struct event_file {
    event_file() : descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
      if (descriptor < 0) throw error("levada: the system gives no event descriptor");
    }
    ~event_file() { ::close(descriptor); }
    event_file(const event_file&) = delete;
    event_file& operator=(const event_file&) = delete;
    void set() const { static_cast<void>(!::write(descriptor, &one, sizeof one)); }
    void reset() const {
      std::uint64_t count;
      static_cast<void>(!::read(descriptor, &count, sizeof count));
    }
    static constexpr std::uint64_t one = 1;
    const int descriptor;
  };

  struct core_state {
    explicit core_state(Session of) : completed(std::move(of)) {}

    void watch() noexcept {
      for (;;) {
        completed.running().wait_until(
            [&] { return completed.items().has_result() || completed.running().is_over() || whose == turn::over; });
        turn mine = turn::watcher;
        if (!whose.compare_exchange_strong(mine, turn::caller)) return;
        events.set();
        whose.wait(turn::caller);
        if (whose == turn::over) return;
      }
    }
    void end() {
      whose = turn::over;
      whose.notify_all();
      completed.end();
    }

    event_file events;
    detail::atomic<turn> whose{turn::watcher};
    detail::result_dispatcher<Session> completed;
  };

  template <class Pop>
  std::optional<popped_result<output>> pop_with(Pop pop) {
    if (core_->whose != turn::caller) {
      core_->events.reset();  // set late, for what was popped meanwhile
      if (core_->whose != turn::caller) return std::nullopt;
    }
    auto popped = pop();
    if (!popped && !this->is_over()) {
      core_->events.reset();
      core_->whose = turn::watcher;
      core_->whose.notify_all();
    }
    return popped;
  }

  std::unique_ptr<core_state> core_;
};

template <class Mistake>
class event_session<mistake_found<Mistake>>;
template <class Session>
  requires detail::only_popped<Session>
event_session(Session) -> event_session<detail::popped_instead<Session>>;

}  // namespace levada
