// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/serve.hpp: a deployed pipeline as a service that clients of any language call: the Open Inference Protocol
// over gRPC (KServe's protocol version 2), with health and reflection. Needs gRPC's headers and libraries (Debian
// package libgrpc++-dev; target `gRPC::grpc++`, pkg-config `grpc++`). A program includes it in the one source that
// serves.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <levada/graph/detail/mistake.hpp>
#include <levada/remote/detail/certificates.hpp>
#include <levada/remote/detail/grpc_credentials.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/service/detail/grpc_inference.hpp>
#include <levada/service/detail/infer_workers.hpp>
#include <levada/service/detail/mistakes.hpp>
#include <levada/service/detail/service_metrics.hpp>
#include <levada/service/detail/termination.hpp>

namespace levada {

/// How a pipeline is served.
struct service_options {
  std::string model = "model";  ///< by which clients name it
  std::string version = "1";
  std::string address{};  ///< gRPC's: "0.0.0.0:8001", "unix:/run/model"; port 0: any
  /// Those who connect show a certificate; `plain_text{}` is for this machine alone.
  std::variant<certificates, certificate_files, plain_text> security{};
  std::size_t most_items = 64;     ///< of a request
  std::size_t most_waiting = 256;  ///< requests of a session; more are refused
  /// Events that are kept of each worker of a session, and requests that are parts of their callers' traces.
  std::size_t traced_events = 0;
  // Of a pipeline that keeps state:
  std::size_t most_sequences = 64;
  std::chrono::nanoseconds longest_idle = std::chrono::minutes(1);  ///< a sequence without requests ends then
};

/// A pipeline that is served until this ends.
class inference_service {
 public:
  explicit inference_service(std::unique_ptr<detail::grpc_inference> of) : of_(std::move(of)) {}

  /// Where it listens, with the port that the system chose.
  const std::string& address() const { return of_->address(); }

  /// Says NOT_SERVING, refuses requests with UNAVAILABLE from now on, and waits until those that are here are
  /// answered. False: some were not after so long.
  bool drain(std::chrono::nanoseconds longest = std::chrono::seconds(30)) { return of_->drain(longest); }

  /// Serves until the process is told to end by SIGTERM or SIGINT, then drains. One at a time in a process: these
  /// signals are its own meanwhile.
  bool run(std::chrono::nanoseconds longest_drain = std::chrono::seconds(30)) {
    detail::await_termination();
    return drain(longest_drain);
  }

  /// What became of requests, and the statistics of the session, in Prometheus' text format.
  std::string metrics() const { return detail::service_metrics(*of_); }

  /// What was kept with `traced_events`, for interop/trace.hpp: of the one session, else of those of open sequences and
  /// of the last `most_sequences` that have ended.
  std::vector<session_trace> traced() const { return of_->worker().traced(); }

 private:
  std::unique_ptr<detail::grpc_inference> of_;
};

namespace detail {

template <class App>
served_model model_of(const service_options& options, bool keeps_state) {
  const auto inputs = wire_tensors<typename App::item>("input");
  const auto outputs = wire_tensors<typename App::output>("output");
  return {options.model, options.version,   {inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()},
          keeps_state,   options.most_items};
}
inline std::shared_ptr<grpc::ServerCredentials> credentials_of(const service_options& options) {
  if (std::holds_alternative<plain_text>(options.security)) check_plain_text(options.address, "service_options");
  return std::visit([](const auto& security) { return server_credentials(security); }, options.security);
}

}  // namespace detail

/// Serves a deployed pipeline to clients of the Open Inference Protocol: an app, or an any_pipeline. Items and results
/// are tensors, numbers, or named items of these; the first axis of each tensor on the wire counts items.
///
/// Requests share a session and its slots, and a `batch` in the pipeline gathers items of all clients. Where a stage
/// keeps state each sequence has a session, named by the parameter `sequence_id`.
///
/// Throws remote_error where it cannot listen, or would listen for other machines without certificates.
template <class App>
  requires correct<decltype(detail::service_mistake<std::decay_t<App>>())>
[[nodiscard]] inference_service serve(App&& app, const service_options& options) {
  using type = std::decay_t<App>;
  const auto credentials = detail::credentials_of(options);
  const auto start = [&](std::unique_ptr<detail::infer_worker> worker, bool keeps_state) {
    return inference_service(std::make_unique<detail::grpc_inference>(detail::model_of<type>(options, keeps_state),
                                                                      std::move(worker), options.address, credentials));
  };
  const detail::answering how{options.most_waiting, detail::gathers_items<type>(), options.traced_events};
  const auto in_sequences = [&] {
    return start(std::make_unique<detail::sequence_worker<type>>(std::forward<App>(app), how, options.most_sequences,
                                                                 options.longest_idle),
                 true);
  };
  const auto shared = [&] {
    return start(std::make_unique<detail::shared_worker<type>>(std::forward<App>(app), how), false);
  };
  if constexpr (detail::is_any_pipeline<type>)
    return app.keeps_state() ? in_sequences() : shared();
  else if constexpr (detail::keeps_state<type>())
    return in_sequences();
  else
    return shared();
}
/// A pipeline that cannot be served.
template <class App>
  requires(decltype(detail::service_mistake<std::decay_t<App>>())::is_mistake)
mistake_found<decltype(detail::service_mistake<std::decay_t<App>>())> serve(App&& app, const service_options& options);

}  // namespace levada
