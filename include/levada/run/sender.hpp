// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/sender.hpp: an item of a session as a sender of P2300 (std::execution), by its member functions alone: no library
// is needed.
//
//   lv::awaitable_session session(app.open());
//   auto work = lv::send<my_execution>(session, item) | then(use);
//
// `my_execution` says whose sender it is, as
//
//   struct my_execution {
//     using sender_concept = stdexec::sender_t;
//     using operation_state_concept = stdexec::operation_state_t;
//     template <class... Value> using completions = stdexec::completion_signatures<
//         stdexec::set_value_t(Value...), stdexec::set_error_t(std::exception_ptr), stdexec::set_stopped_t()>;
//   };

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include <levada/core/detail/indirect.hpp>
#include <levada/run/awaitable.hpp>

namespace levada {
namespace detail {

template <class Execution, class Output>
struct completions_with : std::type_identity<typename Execution::template completions<Output&&>> {};
template <class Execution>
struct completions_with<Execution, void> : std::type_identity<typename Execution::template completions<>> {};

}  // namespace detail

/// Sends an item through the session, where it is started: its result is the value, the exception of its stage, or
/// no_result where it was filtered or dropped, the error; it is stopped where the session gives it up. Completes where
/// a coroutine would be resumed. Itself and its operations may lie in a coroutine's frame, whatever the alignment of
/// item and value; the value is passed on as it is.
template <class Execution, class Session>
class item_sender {
  using session = awaitable_session<Session>;
  using item = typename session::item;
  using time_point = typename session::time_point;

 public:
  using sender_concept = typename Execution::sender_concept;
  using completion_signatures = typename detail::completions_with<Execution, typename session::output>::type;

  template <class Given>
  item_sender(session& of, Given&& given, time_point captured)
      : of_(&of), item_(std::forward<Given>(given)), captured_(captured) {}

  template <class Receiver>
  class operation final : session::pending {
   public:
    using operation_state_concept = typename Execution::operation_state_concept;
    template <class Given>
    operation(session& of, Given&& given, time_point captured, Receiver to)
        : session::pending(of, std::forward<Given>(given), captured), to_(std::move(to)) {}

    void start() & noexcept {
      static_assert(detail::fits_in_frame<typename session::pending>);
      if (!this->begin()) done();  // else it may be over by now
    }

   private:
    /// The receiver may destroy the operation.
    void done() noexcept override {
      if (this->why_ == nullptr) {
        if constexpr (std::is_void_v<typename session::output>)
          std::move(to_).set_value();
        else
          std::move(to_).set_value(std::move(detail::value_in(*this->value_)));
      } else if (is_given_up()) {
        std::move(to_).set_stopped();
      } else {
        std::move(to_).set_error(std::move(this->why_));
      }
    }
    bool is_given_up() const noexcept {
      if (this->why_ == detail::why_missing(missing::cancelled)) return true;  // to throw it would take memory
      try {
        std::rethrow_exception(this->why_);
      } catch (const cancelled&) {
        return true;
      } catch (...) {
        return false;
      }
    }

    Receiver to_;
  };

  template <class Receiver>
  operation<Receiver> connect(Receiver to) && {
    return {*of_, std::move(item_), captured_, std::move(to)};
  }
  template <class Receiver>
    requires std::copy_constructible<item>
  operation<Receiver> connect(Receiver to) const& {
    return {*of_, item_, captured_, std::move(to)};
  }

 private:
  session* of_;
  detail::in_frame<item> item_;
  time_point captured_;
};

/// An item of the session as a sender, captured at a time that travels with it. The session outlives what it is
/// connected to.
template <class Execution, class Session, class Given>
  requires std::constructible_from<typename Session::item, Given>
[[nodiscard]] item_sender<Execution, Session> send(awaitable_session<Session>& session, Given&& given,
                                                   typename Session::time_point captured = {}) {
  return {session, std::forward<Given>(given), captured};
}

}  // namespace levada
