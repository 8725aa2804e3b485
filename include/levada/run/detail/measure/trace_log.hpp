// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/trace_log.hpp: the events of a session with their times, kept in rings of fixed size.
// interop/trace.hpp writes it as a file for a viewer.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <levada/core/detail/storage.hpp>
#include <levada/core/detail/trace_context.hpp>

namespace levada {

enum class trace_kind : std::uint8_t {
  grain,    ///< a worker took items through units of segment `what`
  stage,    ///< and through unit `what`
  waiting,  ///< items stood before unit `what`
  device,   ///< the item was at the device of segment `what`
  upload,   ///< and the device, by its own clock, at these parts of it
  compute,
  download,
  occupied,  ///< so many slots of region `what` were in use: `count`
  late       ///< the item took longer than was promised, most of it at unit `what`; `no_unit`: at none
};

/// One event: when in nanoseconds of the steady clock, and of which items.
struct trace_event {
  trace_kind kind = trace_kind::grain;
  std::uint32_t what = 0;
  std::uint32_t thread = 0;  ///< a small number for each thread of the process
  std::uint32_t count = 0;
  std::uint64_t item = 0;  ///< the first of `count` neighbours, in the order of pushes
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  static constexpr std::uint32_t no_unit = ~std::uint32_t{0};
};

/// A request to a service that is a part of its caller's trace: when it came, and when it had its last result.
struct traced_request {
  trace_context caller{};
  std::uint64_t item = 0;  ///< the first of its `items`, in the order of pushes
  std::uint64_t items = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The last events of a session.
template <class>
struct basic_session_trace {
  std::vector<std::string> stages;            ///< names of the units
  std::vector<trace_event> events;            ///< in no order
  std::uint64_t overwritten = 0;              ///< older events that are lost
  std::uint32_t regions = 1;                  ///< between changes of the rate, each with slots of its own
  std::optional<trace_context> context = {};  ///< whose trace it is a part of
  std::vector<traced_request> requests = {};  ///< the last that a service answered in it
};
using session_trace = basic_session_trace<void>;

namespace detail {

/// The events behind a change of the rate; `segments` are before it.
template <class Trace>
void append(Trace& all, Trace behind, std::size_t segments) {
  for (trace_event& e : behind.events) {
    if (e.kind == trace_kind::late && e.what == trace_event::no_unit) continue;
    if (e.kind == trace_kind::stage || e.kind == trace_kind::waiting || e.kind == trace_kind::late)
      e.what += static_cast<std::uint32_t>(all.stages.size());
    else
      e.what += e.kind == trace_kind::occupied ? all.regions : static_cast<std::uint32_t>(segments);
  }
  all.stages.insert(all.stages.end(), behind.stages.begin(), behind.stages.end());
  all.events.insert(all.events.end(), behind.events.begin(), behind.events.end());
  all.overwritten += behind.overwritten;
  all.regions += behind.regions;
}

/// The last events of one writer.
template <class = void>
class basic_trace_ring {
 public:
  explicit basic_trace_ring(std::size_t events = 0) : events_(events) {}
  bool is_on() const { return !events_.empty(); }
  void add(const trace_event& e) {
    if (!events_.empty()) events_[static_cast<std::size_t>(written_++ % events_.size())] = e;
  }
  template <class Trace>
  void copy_to(Trace& to) const {
    const std::uint64_t kept = written_ < events_.size() ? written_ : events_.size();
    to.events.insert(to.events.end(), events_.begin(), events_.begin() + kept);
    to.overwritten += written_ - kept;
  }

 private:
  fixed_array<trace_event> events_;
  std::uint64_t written_ = 0;
};
using trace_ring = basic_trace_ring<>;

}  // namespace detail
}  // namespace levada
