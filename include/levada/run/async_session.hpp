// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/async_session.hpp: a session of whose items each is started by itself, and awaited:
//
//   lv::async_session session(app.open());
//   auto r = co_await session.push_async(item);             // in a coroutine
//   auto f = lv::as_future(session.push_async(item));       // interop/as_future.hpp
//   auto work = session.push_async(item) | then(use);       // a sender of P2300 (std::execution)
//
// Senders need no library here: they are told by their member functions alone. A library that knows its own by types
// names these, as
//
//   struct my_execution {
//     using sender_concept = stdexec::sender_t;
//     using operation_state_concept = stdexec::operation_state_t;
//     template <class... Value> using completions = stdexec::completion_signatures<
//         stdexec::set_value_t(Value...), stdexec::set_error_t(std::exception_ptr), stdexec::set_stopped_t()>;
//   };
//   lv::async_session session(app.open(), my_execution{});

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/core/detail/aligned_frame.hpp>
#include <levada/core/detail/indirect.hpp>
#include <levada/run/detail/session/dispatcher.hpp>
#include <levada/run/detail/session/push_calls.hpp>
#include <levada/run/detail/session/started_items.hpp>

namespace levada {

/// The types by which senders are known where no library names its own.
struct plain_execution {
  struct sender_concept {};
  struct operation_state_concept {};
  template <class... Value>
  struct completions {};
};

template <class Session, class Execution>
class async_session;
template <class Session, class Execution>
class pushed_item;

namespace detail {

template <class Execution, class Output>
struct completions_with : std::type_identity<typename Execution::template completions<Output&&>> {};
template <class Execution>
struct completions_with<Execution, void> : std::type_identity<typename Execution::template completions<>> {};

/// Waits in a coroutine for what becomes of one item, which lies in `pushed_item` until it is let in.
template <class Session>
class [[nodiscard]] item_awaiter final : kept_outcome<Session> {
  using output = typename Session::output;

 public:
  template <class Execution>
  explicit item_awaiter(pushed_item<Session, Execution>& of) : in_(of.begin(*this)) {}
  item_awaiter(const item_awaiter&) = delete;
  item_awaiter& operator=(const item_awaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) noexcept {
    waiting_ = waiting;
    return in_.start_item(*this);
  }
  /// The result; without value, the exception of the stage or of a move, no_result (filtered or dropped), or cancelled.
  result<in_frame<output>> await_resume() {
    static_assert(fits_in_frame<item_awaiter> && fits_in_frame<result<in_frame<output>>>);
    if (this->why) return result<in_frame<output>>(std::move(this->why));
    if constexpr (std::is_void_v<output>)
      return result<void>();
    else
      return result<in_frame<output>>(moved_from, *this->value);
  }

 private:
  void done() noexcept override { waiting_.resume(); }

  started_items<Session>& in_;
  std::coroutine_handle<> waiting_;
};

/// An item that is started as a sender is, and its receiver.
template <class Session, class Execution, class Receiver>
class item_operation final : kept_outcome<Session> {
 public:
  using operation_state_concept = typename Execution::operation_state_concept;

  item_operation(pushed_item<Session, Execution> item, Receiver to)
      : item_(std::move(item)), in_(item_.begin(*this)), to_(std::move(to)) {}
  item_operation(const item_operation&) = delete;
  item_operation& operator=(const item_operation&) = delete;

  void start() & noexcept {
    static_assert(fits_in_frame<kept_outcome<Session>>);
    if (!in_.start_item(*this)) done();  // else it may be over by now
  }

 private:
  /// The receiver may destroy the operation.
  void done() noexcept override {
    if (this->why == nullptr) {
      if constexpr (std::is_void_v<typename Session::output>)
        std::move(to_).set_value();
      else
        std::move(to_).set_value(std::move(value_in(*this->value)));
    } else if (is_given_up()) {
      std::move(to_).set_stopped();
    } else {
      std::move(to_).set_error(std::move(this->why));
    }
  }
  bool is_given_up() const noexcept {
    if (this->why == why_missing(missing::cancelled)) return true;  // to throw it would take memory
    try {
      std::rethrow_exception(this->why);
    } catch (const cancelled&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  pushed_item<Session, Execution> item_;
  started_items<Session>& in_;
  Receiver to_;
};

}  // namespace detail

/// An item for a session, which is started by `co_await`, by the `start` of what a receiver is connected to, or by
/// `as_future`; until then nothing happens.
///
/// As a sender it completes with the value; with the exception of its stage, or no_result where it was filtered or
/// dropped, as the error; it is stopped where the session gives it up.
///
/// It and its operations may lie in a coroutine's frame, whatever the alignment of item and value.
///
/// A coroutine's frame is aligned as plain `operator new` aligns: where that is too little for item or value, they lie
/// elsewhere, and `co_await` gives a `result<indirect<output>>`, used as any result. The coroutine's own locals,
/// parameters and temporaries lie in the frame, which `aligned_frame` aligns; what a lambda makes, as in `co_await [&]
/// { return session.push_async(make()); }()`, does not.
template <class Session, class Execution>
class [[nodiscard]] pushed_item {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;
  using sender_concept = typename Execution::sender_concept;
  using completion_signatures = typename detail::completions_with<Execution, output>::type;
  template <class Receiver>
  using operation = detail::item_operation<Session, Execution, Receiver>;

  /// The item lies here until it is let in: this outlives the `co_await`.
  detail::item_awaiter<Session> operator co_await() && { return detail::item_awaiter<Session>(*this); }

  template <class Receiver>
  operation<Receiver> connect(Receiver to) && {
    return {std::move(*this), std::move(to)};
  }
  template <class Receiver>
    requires std::copy_constructible<item>
  operation<Receiver> connect(Receiver to) const& {
    return {*this, std::move(to)};
  }

  /// For who starts it in a way of its own: `one` is started with this item, which outlives the start.
  detail::started_items<Session>& begin(detail::started_item<Session>& one) {
    one.given = &given_;
    one.captured = captured_;
    return *in_;
  }

 private:
  friend async_session<Session, Execution>;
  template <class Given>
  pushed_item(detail::started_items<Session>& in, Given&& given, time_point captured)
      : in_(&in), given_(std::forward<Given>(given)), captured_(captured) {}

  detail::started_items<Session>* in_;
  detail::in_frame<item> given_;
  time_point captured_;
};

/// A session whose items are started one by one: `async_session session(app.open())`. Any thread may start them, in any
/// number; they enter in the order in which they were started. A full session lets them wait, and never blocks the
/// thread that starts them.
///
/// Each is told what became of it in input order, by the session's thread or that of a dispatcher: a coroutine resumes
/// there, and holds up the others while it runs there; one whose item is refused at once goes on where it is.
///
/// The session outlives what was started in it, and is not destroyed by that; its end cancels what is in flight and
/// tells all.
template <class Session, class Execution = plain_execution>
class async_session : public detail::session_calls<async_session<Session, Execution>, Session> {
  friend detail::session_calls<async_session, Session>;

 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;
  using pushed = pushed_item<Session, Execution>;

  explicit async_session(Session of) : async_session(std::move(of), nullptr) {}
  async_session(Session of, Execution) : async_session(std::move(of), nullptr) {}
  /// By the thread of that dispatcher.
  async_session(Session of, dispatcher& by) : async_session(std::move(of), &by) {}
  async_session(Session of, Execution, dispatcher& by) : async_session(std::move(of), &by) {}
  async_session(async_session&&) = default;
  async_session& operator=(async_session&&) = delete;
  ~async_session() {
    if (core_) core_->end();
  }

  /// An item to be started, captured at a time that travels with it.
  [[nodiscard]] pushed push_async(item&& given, time_point captured = {}) {
    return pushed(*core_, std::move(given), captured);
  }
  [[nodiscard]] pushed push_async(const item& given, time_point captured = {})
    requires std::copy_constructible<item>
  {
    return pushed(*core_, given, captured);
  }
  template <detail::no_item_of<item> Given>
  mistake_found<pipeline_takes_another_item<detail::wants_item<item>, gives<Given>>> push_async(
      const Given& given, time_point captured = {});
  mistake_found<item_cannot_be_copied_move_it_in<item>> push_async(const item& given, time_point captured = {})
    requires(!std::copy_constructible<item>);

 private:
  async_session(Session of, dispatcher* by) : core_(std::make_unique<detail::started_items<Session>>(std::move(of))) {
    core_->begin(by);
  }

  std::unique_ptr<detail::started_items<Session>> core_;
};

template <class Mistake>
class async_session<mistake_found<Mistake>, plain_execution>;
template <class Session>
  requires detail::only_popped<Session>
async_session(Session) -> async_session<detail::popped_instead<Session>>;
template <class Session>
  requires detail::only_popped<Session>
async_session(Session, dispatcher&) -> async_session<detail::popped_instead<Session>>;
template <class Session, class Execution>
  requires detail::only_popped<Session>
async_session(Session, Execution) -> async_session<detail::popped_instead<Session>>;
template <class Session, class Execution>
  requires detail::only_popped<Session>
async_session(Session, Execution, dispatcher&) -> async_session<detail::popped_instead<Session>>;

}  // namespace levada
