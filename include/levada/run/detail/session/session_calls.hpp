// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_calls.hpp: what the sessions that own one of an app, and hand out its results, pass on to
// it.

#include <cstddef>
#include <optional>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/run/detail/measure/observed_calls.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/session/failure_calls.hpp>
#include <levada/run/detail/session/push_calls.hpp>

namespace levada::detail {

/// Of any thread, as in a session. `Owner` has it in `core_`, a result_dispatcher.
template <class Owner, class Session>
class session_calls : public failure_calls<session_calls<Owner, Session>>, public observed_calls<Owner> {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;

  std::size_t credits() const { return session().credits(); }
  void close() { session().close(); }
  void cancel() { session().cancel(); }
  bool is_over() const { return session().is_over(); }
  time_point now() const { return session().now(); }
  std::optional<time_point> due() const { return session().due(); }

  /// Works and waits until the results of all that was pushed are handed out: a function that takes them has returned,
  /// a future is ready, a coroutine is about to go on. Throws levada::error where the thread that hands results out
  /// calls it, which would wait for itself.
  void drain() {
    auto& core = *static_cast<Owner&>(*this).core_;
    if (core.is_handing_out()) throw error("levada: drain: the thread that hands out results would wait for itself");
    core.running().wait_until([&] { return core.has_handed_out_all(); });
  }
  /// `drain`, and every stage has the state that it had when the session was opened. No other thread pushes meanwhile.
  void reset() {
    drain();
    session().reset();
  }

 protected:
  Session& session() const { return static_cast<const Owner&>(*this).core_->session(); }

 private:
  friend failure_calls<session_calls>;
  friend observed_calls<Owner>;
  template <class F>
  void listen(F f) {
    session().on_error(std::move(f));
  }
  Session& observed() const { return session(); }
};

/// And of one thread at a time, where items are pushed as into a session.
template <class Owner, class Session>
class pushed_session_calls : public session_calls<Owner, Session>,
                             public push_calls<pushed_session_calls<Owner, Session>, typename Session::item> {
  friend push_calls<pushed_session_calls, typename Session::item>;

 public:
  void allow_multiple_producers() { this->session().allow_multiple_producers(); }

 private:
  template <class Given>
  push_result push_given(Given&& given, typename Session::time_point captured) {
    return this->session().push(std::forward<Given>(given), captured);
  }
  template <class Given>
  push_result try_push_given(Given&& given, typename Session::time_point captured) {
    return this->session().try_push(std::forward<Given>(given), captured);
  }
};

}  // namespace levada::detail
