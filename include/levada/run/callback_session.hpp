// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/callback_session.hpp: a session whose results are handed to a function.

#include <memory>
#include <type_traits>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/detail/session/result_dispatcher.hpp>

namespace levada {

template <class F, class Result>
struct results_are_handed_to_a_function_that_takes_them : detail::mistake {};

namespace detail {

template <class F, class Session>
concept takes_results_of = std::is_invocable_v<F&, handed_result<typename Session::output>&> ||
                           std::is_invocable_v<F&, handed_result<typename Session::output>&, const item_envelope&>;

}  // namespace detail

/// Calls `f(result)`, or `f(result, envelope)`, for each result in input order, never twice at once, on one thread of
/// the session: `callback_session session(app.open(), f)`. `result` is a `result<Out&>` whose value may be moved from
/// and is gone after the call. Filtered, dropped and cancelled items are passed over. `f` may not throw, nor destroy
/// the session; while it runs no other result is handed out, so it may push only what fits in: a push that has to wait
/// throws levada::error there. One thread pushes at a time. The session's end cancels what is in flight, and hands out
/// what was finished.
template <class Session, class F>
class callback_session : public detail::pushed_session_calls<callback_session<Session, F>, Session> {
  friend detail::session_calls<callback_session, Session>;

 public:
  using output = typename Session::output;
  using handed = detail::handed_result<output>;

  callback_session(Session of, F f) : core_(std::make_unique<core_state>(std::move(of), std::move(f))) {
    core_->completed.start([core = core_.get()] { core->serve(); });
  }
  callback_session(callback_session&&) = default;
  callback_session& operator=(callback_session&&) = delete;
  ~callback_session() {
    if (core_) core_->completed.end();
  }

 private:
  struct core_state {
    core_state(Session of, F g) : completed(std::move(of)), f(std::move(g)) {}

    void serve() {
      while (completed.await([] { return false; })) completed.take_head([this](detail::engine& e) { hand_out(e); });
    }
    void hand_out(detail::engine& e) {
      handed r = [&]() -> handed {
        if (e.head_state() == detail::item_state::failed) return handed(e.head_error());
        if constexpr (std::is_void_v<output>)
          return handed();
        else
          return handed(*static_cast<output*>(e.head_value()));
      }();
      if constexpr (std::is_invocable_v<F&, handed&, const item_envelope&>)
        f(r, e.head_envelope());
      else
        f(r);
    }

    detail::result_dispatcher<Session> completed;
    F f;
  };

  std::unique_ptr<core_state> core_;
};

template <class Mistake, class F>
class callback_session<mistake_found<Mistake>, F>;
template <class Session, class F>
  requires detail::only_popped<Session>
callback_session(Session, F) -> callback_session<detail::popped_instead<Session>, F>;
template <class Session, class F>
  requires(!detail::only_popped<Session> && !detail::takes_results_of<F, Session>)
callback_session(Session, F) -> callback_session<
    mistake_found<results_are_handed_to_a_function_that_takes_them<F, detail::handed_result<typename Session::output>>>,
    F>;

}  // namespace levada
