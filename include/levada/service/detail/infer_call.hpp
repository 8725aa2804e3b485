// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/infer_call.hpp: a request on its way through a session, and who works on it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <levada/core/detail/trace_context.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/prometheus.hpp>
#include <levada/service/detail/infer_answer.hpp>
#include <levada/service/detail/infer_request.hpp>

namespace levada::detail {

class infer_call {
 public:
  infer_request request;
  infer_answer answer;
  std::optional<trace_context> caller;  ///< whose trace it is a part of, as far as the worker asks
  std::uint64_t came_at = 0;            ///< then

  /// Its client waits no more.
  virtual bool is_given_up() const noexcept = 0;
  /// Answers the client, with what is in `answer` unless it failed. Once, the last that is done with the call.
  virtual void finish() noexcept = 0;

  /// The first reason counts.
  void fail(status_code code, std::string why) {
    if (code_ != status_code::ok) return;
    code_ = code;
    why_ = std::move(why);
  }
  status_code code() const { return code_; }
  const std::string& why() const { return why_; }

  // Of the session that works on it.
  infer_call* next = nullptr;
  std::size_t pushed = 0;    ///< of its items
  std::size_t answered = 0;  ///< of those
  std::uint64_t first_item = 0;

 protected:
  ~infer_call() = default;
  /// For another request.
  void clear() {
    next = nullptr;
    pushed = answered = 0;
    caller.reset();
    code_ = status_code::ok;
    why_.clear();
  }

 private:
  status_code code_ = status_code::ok;
  std::string why_;
};

/// Where the requests of a service go.
class infer_worker {
 public:
  explicit infer_worker(bool keeps_traces) : keeps_traces_(keeps_traces) {}
  virtual ~infer_worker() = default;
  /// From any thread. Throws refusal; else the call is finished some time, by this thread too.
  virtual void submit(infer_call& call) = 0;
  /// The measurements of its sessions, in Prometheus' format.
  virtual std::string metrics(std::span<const prometheus_label> labels) = 0;
  /// It wants to know whose traces its requests are parts of.
  bool keeps_traces() const { return keeps_traces_; }
  /// What is kept of its sessions.
  virtual std::vector<session_trace> traced() = 0;

 private:
  const bool keeps_traces_;
};

}  // namespace levada::detail
