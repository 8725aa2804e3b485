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
#include <levada/run/detail/session/dispatcher.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>
#include <levada/run/detail/workers/event_count.hpp>
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

  explicit event_session(Session of) : event_session(std::move(of), nullptr) {}
  /// By the thread of that dispatcher.
  event_session(Session of, dispatcher& by) : event_session(std::move(of), &by) {}
  event_session(event_session&&) = default;
  event_session& operator=(event_session&&) = delete;
  ~event_session() {
    if (core_) core_->end();
  }

  /// Works and waits until all that was pushed is finished and waits to be popped.
  void drain() {
    this->session().drain();
    core_->give_turn();
  }
  /// `drain`, and every stage has the state that it had when the session was opened. No other thread pushes meanwhile.
  void reset() {
    this->session().reset();
    core_->give_turn();
  }

  /// To be polled for reading, and never read, written or closed.
  int descriptor() const { return core_->descriptor(); }

  /// The next result. Empty where the descriptor is not readable; where nothing is left, it is readable from then on no
  /// more.
  std::optional<popped_result<output>> try_pop() {
    return core_->pop_with([&] { return this->session().try_pop(); });
  }
  std::optional<popped_result<output>> try_pop(item_envelope& envelope) {
    return core_->pop_with([&] { return this->session().try_pop(envelope); });
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

  class core_state final : public detail::result_dispatcher<Session> {
    using base = detail::result_dispatcher<Session>;

   public:
    explicit core_state(Session of) : base(std::move(of)) {}

    void begin(dispatcher* by) {
      this->items().invite_always();
      this->start(*this, by);
    }
    void end() {
      whose_ = turn::over;
      whose_.notify_all();
      base::end();
    }

    bool is_ready() noexcept override {
      const turn now = whose_;
      return now == turn::over || (now == turn::watcher && has_news());
    }
    bool serve() noexcept override {
      turn mine = turn::watcher;
      if (whose_.compare_exchange_strong(mine, turn::caller)) events_.set();
      return mine == turn::over;
    }
    /// What is there now is the caller's at once, not when the watcher comes to look.
    void give_turn() noexcept {
      if (has_news()) serve();
    }
    detail::event_count* told_at() noexcept override {
      return whose_ == turn::watcher ? &this->running().event() : nullptr;
    }
    void serve_alone() noexcept {
      do {
        whose_.wait(turn::caller);
        this->running().wait_until([this] { return whose_ == turn::over || has_news(); });
      } while (!serve());
    }

    int descriptor() const { return events_.descriptor; }
    /// Calls `pop` where it is the caller's turn, which ends where that finds nothing.
    template <class Pop>
    auto pop_with(Pop pop) -> decltype(pop()) {
      if (whose_ != turn::caller) {
        events_.reset();  // set late, for what was popped meanwhile
        if (whose_ != turn::caller) return std::nullopt;
      }
      auto popped = pop();
      if (!popped && !this->session().is_over()) {
        events_.reset();
        whose_ = turn::watcher;
        whose_.notify_all();
        this->look_again();
      }
      return popped;
    }

   private:
    bool has_news() { return this->items().has_result() || this->running().is_over(); }

    event_file events_;
    detail::atomic<turn> whose_{turn::watcher};
  };

  event_session(Session of, dispatcher* by) : core_(std::make_unique<core_state>(std::move(of))) { core_->begin(by); }

  std::unique_ptr<core_state> core_;
};

template <class Mistake>
class event_session<mistake_found<Mistake>>;
template <class Session>
  requires detail::only_popped<Session>
event_session(Session) -> event_session<detail::popped_instead<Session>>;
template <class Session>
  requires detail::only_popped<Session>
event_session(Session, dispatcher&) -> event_session<detail::popped_instead<Session>>;

}  // namespace levada
