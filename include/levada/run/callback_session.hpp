// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/callback_session.hpp: a session whose results are handed to a function.

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/dispatcher.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>

namespace levada {

template <class F, class Result>
struct results_are_handed_to_a_function_that_takes_them : detail::mistake {};

namespace detail {

template <class F, class Session>
concept takes_results_of =
    !only_popped<Session> && (std::is_invocable_v<F&, handed_result<typename Session::output>&> ||
                              std::is_invocable_v<F&, handed_result<typename Session::output>&, const item_envelope&>);

}  // namespace detail

/// Calls `f(result)`, or `f(result, envelope)`, for each result in input order, never twice at once, on a thread of the
/// session or of a dispatcher: `callback_session session(app.open(), f)`. `result` is a `result<Out&>` whose value may
/// be moved from and is gone after the call. Filtered, dropped and cancelled items are passed over.
///
/// `f` may not throw, nor destroy the session; while it runs no other result is handed out, so it may push only what
/// fits in: a push that has to wait throws levada::error there. One thread pushes at a time. The session's end cancels
/// what is in flight, and hands out what was finished.
template <class Session, class F>
class callback_session : public detail::pushed_session_calls<callback_session<Session, F>, Session> {
  friend detail::session_calls<callback_session, Session>;

 public:
  using output = typename Session::output;
  using handed = detail::handed_result<output>;

  callback_session(Session of, F f) : callback_session(std::move(of), std::move(f), nullptr) {}
  /// By the thread of that dispatcher.
  callback_session(Session of, F f, dispatcher& by) : callback_session(std::move(of), std::move(f), &by) {}
  callback_session(callback_session&&) = default;
  callback_session& operator=(callback_session&&) = delete;
  ~callback_session() {
    if (core_) core_->end();
  }

 private:
  class core_state final : public detail::result_dispatcher<Session> {
    using base = detail::result_dispatcher<Session>;

   public:
    core_state(Session of, F g) : base(std::move(of)), f(std::move(g)) {}
    using base::start, base::end;

    bool is_ready() noexcept override { return this->items().has_result() || this->is_ending(); }
    bool serve() noexcept override {
      if (this->is_ending()) return true;
      this->take_head([this](detail::engine& e) { hand_out(e); });
      return false;
    }

   private:
    void hand_out(detail::engine& e) {
      handed r = [&]() -> handed {
        if (e.head_state() == detail::item_state::failed) return handed(e.head_error());
        if constexpr (std::is_void_v<output>)
          return handed();
        else
          return handed(*static_cast<output*>(e.head_value()));
      }();
      try {
        if constexpr (std::is_invocable_v<F&, handed&, const item_envelope&>)
          f(r, e.head_envelope());
        else
          f(r);
      } catch (...) {
        std::terminate();  // here its message has the exception's text
      }
    }

    F f;
  };

  callback_session(Session of, F f, dispatcher* by) : core_(std::make_unique<core_state>(std::move(of), std::move(f))) {
    core_->start(*core_, by);
  }

  std::unique_ptr<core_state> core_;
};

namespace detail {

/// What is deduced where results cannot be handed to `F`.
template <class Session, class F>
struct refused_callback : std::type_identity<popped_instead<Session>> {};
template <class Session, class F>
  requires(!only_popped<Session>)
struct refused_callback<Session, F>
    : std::type_identity<
          mistake_found<results_are_handed_to_a_function_that_takes_them<F, handed_result<typename Session::output>>>> {
};

}  // namespace detail

template <class Mistake, class F>
class callback_session<mistake_found<Mistake>, F>;
template <class Session, class F>
  requires(!detail::takes_results_of<F, Session>)
callback_session(Session, F) -> callback_session<typename detail::refused_callback<Session, F>::type, F>;
template <class Session, class F>
  requires(!detail::takes_results_of<F, Session>)
callback_session(Session, F, dispatcher&) -> callback_session<typename detail::refused_callback<Session, F>::type, F>;

}  // namespace levada
