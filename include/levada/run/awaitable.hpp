// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/awaitable.hpp: `auto r = co_await session.asynchronous(item);`

#include <atomic>
#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/run/completed_session.hpp>

namespace levada {

/// A session whose results are awaited by coroutines: `awaitable_session session(app.open())`. Any thread may await, in any
/// number; items enter in the order in which they were awaited. A full session suspends, and never blocks a thread. A
/// coroutine resumes on the session's completion thread, in input order, and holds up the others while it runs there; one
/// whose item is refused at once goes on where it is. The session outlives the coroutines that wait for it, and is not
/// destroyed by one of them; its end cancels what is in flight and resumes all.
template <class Session>
class awaitable_session {
  struct core_state;

 public:
  using item = typename Session::item;
  using output = typename Session::output;

  explicit awaitable_session(Session of) : core_(std::make_unique<core_state>(std::move(of))) {
    core_->completed.items().hand_out_all();
    core_->completed.start([core = core_.get()] { core->serve(); });
  }
  awaitable_session(awaitable_session&&) = default;
  awaitable_session& operator=(awaitable_session&&) = delete;
  ~awaitable_session() {
    if (core_) core_->completed.end();
  }

  /// An item on its way, and what became of it.
  class pending : public detail::completion {
   public:
    template <class Given>
    pending(awaitable_session& of, Given&& given) : of_(*of.core_), given_(std::forward<Given>(given)) {}
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
    bool begin() { return of_.begin(*this); }

    std::conditional_t<std::is_void_v<output>, std::nullptr_t, std::optional<output>> value_{};
    std::exception_ptr why_;

   private:
    friend core_state;
    core_state& of_;
    item given_;
  };

  /// Waits in a coroutine for what becomes of one item.
  class [[nodiscard]] awaited final : public pending {
   public:
    using pending::pending;

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      return this->begin();
    }
    /// The result; without value, the stage's exception, no_result (filtered or dropped), or cancelled.
    result<output> await_resume() {
      if (this->why_) return result<output>(std::move(this->why_));
      if constexpr (std::is_void_v<output>)
        return result<output>();
      else
        return result<output>(std::move(*this->value_));
    }
    void done() noexcept override { waiting_.resume(); }

   private:
    std::coroutine_handle<> waiting_;
  };

  awaited asynchronous(item&& given) { return awaited(*this, std::move(given)); }
  awaited asynchronous(const item& given)
    requires std::copy_constructible<item>
  {
    return awaited(*this, given);
  }

  void close() { core_->completed.session().close(); }
  void cancel() { core_->completed.session().cancel(); }
  bool is_over() const { return core_->completed.session().is_over(); }
  item_counts counts() const { return core_->completed.session().counts(); }

 private:
  struct core_state {
    explicit core_state(Session of) : completed(std::move(of)) {}

    /// Gives the item to the pipeline, or lets it wait for room. False: it is refused, and the coroutine goes on.
    bool begin(pending& a) {
      const std::lock_guard lock(mutex);
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
      return false;
    }
    bool give(pending& a) {
      return completed.try_push_for(&a, [&]() -> item&& { return std::move(a.given_); }, {});
    }

    /// Gives those that wait to the pipeline while there is room; where it is closed, gives them up.
    void admit() noexcept {
      detail::completion* given_up = nullptr;
      {
        const std::lock_guard lock(mutex);
        if (completed.running().is_closed()) {
          given_up = std::exchange(first, nullptr);
          waiting.store(0);
        }
        while (first != nullptr) {
          detail::completion* const behind = first->next;  // once it is given it may be over
          if (!give(*static_cast<pending*>(first))) break;
          first = behind;
          waiting.fetch_sub(1);
        }
        if (first == nullptr) last = &first;
      }
      while (given_up != nullptr) {
        detail::completion* const one = std::exchange(given_up, given_up->next);
        one->take(nullptr, detail::why_missing(missing::cancelled));
        one->done();
      }
    }

    void serve() noexcept {
      completed.complete_all([this] { return waiting.load() != 0 && completed.running().is_closed(); },
                             [this] { admit(); });
      admit();
    }

    detail::completed_session<Session> completed;
    std::mutex mutex;  ///< of pushing, and of the list
    detail::completion* first = nullptr;
    detail::completion** last = &first;
    std::atomic<std::size_t> waiting{0};
  };

  std::unique_ptr<core_state> core_;
};

}  // namespace levada
