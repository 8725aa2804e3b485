// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/observed_calls.hpp: the queries of every handle of a session.

#include <cstddef>

#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/program/item_counts.hpp>

namespace levada::detail {

/// Of any thread, as of a session, which `Owner` has as `observed()`.
template <class Owner>
class observed_calls {
 public:
  item_counts counts() const { return of().counts(); }
  void measure(bool on = true) { of().measure(on); }
  session_statistics statistics() const { return of().statistics(); }
  void trace(std::size_t events = 65'536) { of().trace(events); }
  /// Its result needs run/detail/measure/trace_log.hpp, or interop/trace.hpp, which writes it.
  template <class Trace = session_trace>
  Trace traced() const {
    return of().traced();
  }

 private:
  auto& of() const { return static_cast<const Owner&>(*this).observed(); }
};

}  // namespace levada::detail
