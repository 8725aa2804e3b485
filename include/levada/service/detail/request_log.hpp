// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/request_log.hpp: the last requests of a session that are parts of their callers' traces.

#include <cstddef>
#include <cstdint>

#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/service/detail/infer_call.hpp>

namespace levada::detail {

/// By one thread at a time.
class request_log {
 public:
  explicit request_log(std::size_t most) : kept_(most) {}

  /// One that has all its results.
  void add(const infer_call& call) noexcept {
    if (call.caller && call.pushed != 0 && !kept_.empty())
      kept_[static_cast<std::size_t>(written_++ % kept_.size())] = {*call.caller, call.first_item, call.pushed,
                                                                    call.came_at, meter::now()};
  }
  void copy_to(session_trace& to) const {
    const std::uint64_t count = written_ < kept_.size() ? written_ : kept_.size();
    to.requests.assign(kept_.begin(), kept_.begin() + count);
    to.overwritten += written_ - count;
  }

 private:
  fixed_array<traced_request> kept_;
  std::uint64_t written_ = 0;
};

}  // namespace levada::detail
