// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/session_calls.hpp: what the sessions that own one of an app, and hand out its results, pass on to it.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <utility>

#include <levada/run/item_counts.hpp>
#include <levada/run/statistics.hpp>
#include <levada/run/trace_log.hpp>

namespace levada::detail {

/// Of any thread, as in a session. `Owner` has it as `core_->completed`.
template <class Owner, class Session>
class session_calls {
 public:
  using item = typename Session::item;
  using output = typename Session::output;
  using time_point = typename Session::time_point;

  std::size_t credits() const { return session().credits(); }
  void close() { session().close(); }
  void cancel() { session().cancel(); }
  bool is_over() const { return session().is_over(); }
  item_counts counts() const { return session().counts(); }
  void measure(bool on = true) { session().measure(on); }
  session_statistics statistics() const { return session().statistics(); }
  void trace(std::size_t events = 65'536) { session().trace(events); }
  session_trace traced() const { return session().traced(); }

 protected:
  Session& session() const { return static_cast<const Owner&>(*this).core_->completed.session(); }
};

/// And of one thread at a time, where items are pushed as into a session.
template <class Owner, class Session>
class pushed_session_calls : public session_calls<Owner, Session> {
  using calls = session_calls<Owner, Session>;

 public:
  using typename calls::item, typename calls::time_point;

  bool push(item&& given, time_point captured = {}) { return this->session().push(std::move(given), captured); }
  bool push(const item& given, time_point captured = {})
    requires std::copy_constructible<item>
  {
    return this->session().push(given, captured);
  }
  bool try_push(item&& given, time_point captured = {}) { return this->session().try_push(std::move(given), captured); }
  bool try_push(const item& given, time_point captured = {})
    requires std::copy_constructible<item>
  {
    return this->session().try_push(given, captured);
  }
  void let_others_push() { this->session().let_others_push(); }
};

}  // namespace levada::detail
