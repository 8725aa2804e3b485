// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/forwarded_session.hpp: the calls of a session behind an any_session that go on as they are.

#include <cstddef>
#include <optional>
#include <utility>

#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/session/any_session.hpp>

namespace levada::detail {

/// The calls that `Of`, a session or what stands for sessions, has under the same names.
template <class In, class Out, class Of>
class forwarded_session : public session_interface<In, Out> {
 public:
  using typename session_interface<In, Out>::time_point;

  std::size_t credits() override { return of_.credits(); }
  void close() override { of_.close(); }
  void drain() override { of_.drain(); }
  void reset() override { of_.reset(); }
  void cancel() override { of_.cancel(); }
  bool is_over() override { return of_.is_over(); }
  time_point now() override { return of_.now(); }
  std::optional<time_point> due() override { return of_.due(); }
  item_counts counts() override { return of_.counts(); }
  void measure(bool on) override { of_.measure(on); }
  session_statistics statistics() override { return of_.statistics(); }
  void trace(std::size_t events) override { of_.trace(events); }
  session_trace traced() override { return of_.traced(); }
  void allow_multiple_producers() override { of_.allow_multiple_producers(); }

 protected:
  template <class... Arguments>
  explicit forwarded_session(Arguments&&... arguments) : of_(std::forward<Arguments>(arguments)...) {}

  Of of_;
};

}  // namespace levada::detail
