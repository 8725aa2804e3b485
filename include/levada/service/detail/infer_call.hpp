// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/infer_call.hpp: a request on its way through a session, and who works on it.

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <levada/run/prometheus.hpp>
#include <levada/service/detail/infer_answer.hpp>
#include <levada/service/detail/infer_request.hpp>

namespace levada::detail {

class infer_call {
 public:
  infer_request request;
  infer_answer answer;

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

 protected:
  ~infer_call() = default;
  /// For another request.
  void clear() {
    next = nullptr;
    pushed = answered = 0;
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
  virtual ~infer_worker() = default;
  /// From any thread. Throws refusal; else the call is finished some time, by this thread too.
  virtual void submit(infer_call& call) = 0;
  /// The measurements of its sessions, in Prometheus' format.
  virtual std::string metrics(std::span<const prometheus_label> labels) = 0;
};

}  // namespace levada::detail
