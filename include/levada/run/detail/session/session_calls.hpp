// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/session_calls.hpp: what the sessions that own one of an app, and hand out its results, pass on to
// it.

#include <chrono>
#include <cstddef>
#include <utility>

#include <levada/run/detail/measure/observed_calls.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/session/push_calls.hpp>

namespace levada::detail {

/// Of any thread, as in a session. `Owner` has it as `core_->completed`.
template <class Owner, class Session>
class session_calls : public observed_calls<Owner> {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;

  std::size_t credits() const { return session().credits(); }
  void close() { session().close(); }
  void cancel() { session().cancel(); }
  bool is_over() const { return session().is_over(); }

 protected:
  Session& session() const { return static_cast<const Owner&>(*this).core_->completed.session(); }

 private:
  friend observed_calls<Owner>;
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
