// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/service_metrics.hpp: what became of the requests of a service, in Prometheus' text format.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <levada/run/prometheus.hpp>
#include <levada/service/detail/grpc_inference.hpp>

namespace levada::detail {

/// The names of gRPC's status codes.
inline constexpr std::array<std::string_view, 17> status_names = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

inline std::string service_metrics(grpc_inference& of) {
  const infer_call_pool::counted counts = of.counts();
  const prometheus_label labels[] = {{"model", of.model().name}, {"version", of.model().version}};
  prometheus_writer to;
  to.begin_session(labels);
  to.metric("levada_requests_total", "counter", "Requests that were answered, by the status code of gRPC.");
  for (std::size_t code = 0; code < counts.by_code.size(); ++code) {
    if (counts.by_code[code] == 0 && code != 0) continue;
    std::string label;
    prometheus_writer::append_label(label, "code", status_names[code]);
    to.sample(label, counts.by_code[code]);
  }
  to.metric("levada_requests_in_flight", "gauge", "Requests that are being answered.");
  to.sample({}, std::uint64_t{counts.active});
  return std::move(to).text() + of.worker().metrics(labels);
}

}  // namespace levada::detail
