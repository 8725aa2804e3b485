// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/awaitable.hpp: `auto r = co_await session.asynchronous(item);`

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/aligned_frame.hpp>
#include <levada/core/detail/indirect.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {

/// A session whose results are awaited by coroutines: `awaitable_session session(app.open())`. Any thread may await, in
/// any number; items enter in the order in which they were awaited. A full session suspends, and never blocks a thread.
/// A coroutine resumes on the session's completion thread, in input order, and holds up the others while it runs there;
/// one whose item is refused at once goes on where it is. The session outlives the coroutines that wait for it, and is
/// not destroyed by one of them; its end cancels what is in flight and resumes all.
template <class Session>
class awaitable_session : public detail::session_calls<awaitable_session<Session>, Session> {
  friend detail::session_calls<awaitable_session, Session>;
  struct core_state;

 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;

  explicit awaitable_session(Session of) : core_(std::make_unique<core_state>(std::move(of))) {
    core_->completed.items().hand_out_all();
    core_->completed.start([core = core_.get()] { core->serve(); });
  }
  awaitable_session(awaitable_session&&) = default;
  awaitable_session& operator=(awaitable_session&&) = delete;
  ~awaitable_session() {
    if (core_) core_->completed.end();
  }

  /// An item on its way, and what became of it. It may lie in a coroutine's frame, whatever the alignment of the item.
  class pending : public detail::completion {
   public:
    template <class Given>
    pending(awaitable_session& of, Given&& given, time_point captured)
        : of_(*of.core_), given_(std::forward<Given>(given)), captured_(captured) {}
    pending(const pending&) = delete;
    pending& operator=(const pending&) = delete;

    void take(void* value, const std::exception_ptr& why) noexcept override {
      why_ = why;
      if constexpr (!std::is_void_v<output>) {
        if (value != nullptr) {
          try {
            value_.emplace(std::move(*static_cast<output*>(value)));
          } catch (...) {
            why_ = std::current_exception();
          }
        }
      }
    }

   protected:
    /// False: it is refused, and `take` has said why.
    bool begin() noexcept { return of_.begin(*this); }

    std::conditional_t<std::is_void_v<output>, std::nullptr_t, std::optional<detail::in_frame<output>>> value_{};
    std::exception_ptr why_;

   private:
    friend core_state;
    core_state& of_;
    detail::in_frame<item> given_;
    const time_point captured_;
  };

  /// Waits in a coroutine for what becomes of one item.
  class [[nodiscard]] awaited final : public pending {
   public:
    using pending::pending;

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) noexcept {
      waiting_ = waiting;
      return this->begin();
    }
    /// The result; without value, the exception of the stage or of a move, no_result (filtered or dropped), or
    /// cancelled.
    result<detail::in_frame<output>> await_resume() {
      using in_frame = result<detail::in_frame<output>>;
      static_assert(detail::fits_in_frame<awaited> && detail::fits_in_frame<in_frame>);
      if (this->why_) return in_frame(std::move(this->why_));
      if constexpr (std::is_void_v<output>)
        return in_frame();
      else
        return in_frame(moved_from, *this->value_);
    }
    void done() noexcept override { waiting_.resume(); }

   private:
    std::coroutine_handle<> waiting_;
  };

  /// An item to be awaited, captured at a time that travels with it. A coroutine's frame is aligned as plain `operator
  /// new` aligns: where that is too little for item or value, they lie elsewhere, and `co_await` gives a
  /// `result<indirect<output>>`, used as any result. The coroutine's own locals, parameters and temporaries lie in the
  /// frame, which `aligned_frame` aligns; what a lambda makes, as in `co_await [&] { return
  /// session.asynchronous(make()); }()`, does not.
  awaited asynchronous(item&& given, time_point captured = {}) { return awaited(*this, std::move(given), captured); }
  awaited asynchronous(const item& given, time_point captured = {})
    requires std::copy_constructible<item>
  {
    return awaited(*this, given, captured);
  }
  template <detail::no_item_of<item> Given>
  mistake_found<pipeline_takes_another_item<detail::wants_item<item>, gives<Given>>> asynchronous(
      const Given& given, time_point captured = {});
  mistake_found<item_cannot_be_copied_move_it_in<item>> asynchronous(const item& given, time_point captured = {})
    requires(!std::copy_constructible<item>);

 private:
  struct core_state {
    explicit core_state(Session of) : completed(std::move(of)) {}

    /// Gives the item to the pipeline, or lets it wait for room. False: it is refused, and the coroutine goes on.
    bool begin(pending& a) noexcept {
      const std::lock_guard lock(mutex);
      try {
        if (!completed.running().is_closed()) {
          if (first == nullptr && give(a)) return true;  // the coroutine may be over by now
          if (completed.waits_when_full()) {
            *last = &a;
            last = &a.next;
            waiting.fetch_add(1);
            if (completed.running().is_closed()) completed.session().close();  // says so to the thread once more
            return true;
          }
        }
        a.take(nullptr, detail::why_missing(completed.running().is_closed() ? missing::cancelled : missing::dropped));
      } catch (...) {  // the item's move threw
        a.take(nullptr, std::current_exception());
      }
      return false;
    }
    bool give(pending& a) {
      return completed.try_push_for(
          &a, [&]() -> item&& { return std::move(detail::value_in(a.given_)); }, a.captured_);
    }

    /// Gives those that wait to the pipeline while there is room; where it is closed, gives them up.
    void admit() noexcept {
      detail::completion* refused = nullptr;
      {
        const std::lock_guard lock(mutex);
        const bool gives_up = completed.running().is_closed();
        for (detail::completion** end = &refused; first != nullptr;) {
          pending& a = *static_cast<pending*>(first);
          detail::completion* const behind = a.next;  // once it is given it may be over
          std::exception_ptr why;
          try {
            if (gives_up)
              why = detail::why_missing(missing::cancelled);
            else if (!give(a))
              break;
          } catch (...) {  // its move threw
            why = std::current_exception();
          }
          first = behind;
          waiting.fetch_sub(1);
          if (why == nullptr) continue;
          a.take(nullptr, why);
          a.next = nullptr;
          *end = &a;
          end = &a.next;
        }
        if (first == nullptr) last = &first;
      }
      while (refused != nullptr) std::exchange(refused, refused->next)->done();
    }

    void serve() noexcept {
      completed.complete_all([this] { return waiting.load() != 0 && completed.running().is_closed(); },
                             [this] { admit(); });
      admit();
    }

    detail::result_dispatcher<Session> completed;
    std::mutex mutex;  ///< of pushing, and of the list
    detail::completion* first = nullptr;
    detail::completion** last = &first;
    detail::atomic<std::size_t> waiting{0};
  };

  std::unique_ptr<core_state> core_;
};

template <class Mistake>
class awaitable_session<mistake_found<Mistake>>;
template <class Session>
  requires detail::only_popped<Session>
awaitable_session(Session) -> awaitable_session<detail::popped_instead<Session>>;

}  // namespace levada
