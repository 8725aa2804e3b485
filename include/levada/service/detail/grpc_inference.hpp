// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/detail/grpc_inference.hpp: the server of a service: the Open Inference Protocol, reflection and health over
// gRPC's generic callback interface, so that nothing of a program is generated.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <levada/remote/detail/grpc_credentials.hpp>
#include <levada/service/detail/grpc_calls.hpp>
#include <levada/service/detail/grpc_infer_call.hpp>
#include <levada/service/detail/infer_call.hpp>
#include <levada/service/detail/inference_messages.hpp>
#include <levada/service/detail/model.hpp>
#include <levada/service/detail/reflection.hpp>

namespace levada::detail {

class grpc_inference final : grpc::CallbackGenericService {
 public:
  grpc_inference(served_model model, std::unique_ptr<infer_worker> worker, std::string address,
                 const std::shared_ptr<grpc::ServerCredentials>& as)
      : model_(std::move(model)), worker_(std::move(worker)), address_(std::move(address)) {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(longest_request(model_));
    builder.SetMaxSendMessageSize(-1);
    // A switch of all servers that are built in the process.
    static std::mutex building;
    const std::lock_guard lock(building);
    const bool before = grpc::DefaultHealthCheckServiceEnabled();
    grpc::EnableDefaultHealthCheckService(true);
    try {
      server_ = start_listening(builder, address_, as, "a service");
    } catch (...) {
      grpc::EnableDefaultHealthCheckService(before);
      throw;
    }
    grpc::EnableDefaultHealthCheckService(before);
    set_health(true);
  }
  ~grpc_inference() override {
    set_health(false);
    is_draining_.store(true);
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    server_->Wait();
  }

  const std::string& address() const { return address_; }
  const served_model& model() const { return model_; }
  infer_worker& worker() { return *worker_; }
  infer_call_pool::counted counts() { return calls_.counts(); }

  /// Takes no more requests, says so to those who watch its health, and waits until those that are here are answered.
  /// False: some were not after so long.
  bool drain(std::chrono::nanoseconds longest) {
    set_health(false);
    is_draining_.store(true);
    const auto end = std::chrono::steady_clock::now() + longest;
    while (calls_.counts().active != 0) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

 private:
  void set_health(bool serves) {
    if (grpc::HealthCheckServiceInterface* const health = server_->GetHealthCheckService()) {
      health->SetServingStatus(serves);
      health->SetServingStatus(std::string(inference_service_name), serves);
      health->SetServingStatus(model_.name, serves);
    }
  }
  /// Numbers in typed contents take up to ten bytes each; names and parameters a little more.
  static int longest_request(const served_model& model) {
    std::size_t bytes = 0;
    for (const item_tensor& t : model.inputs) bytes += t.elements() * 10;
    constexpr std::size_t beside = 64 << 10, most = std::numeric_limits<int>::max();
    return static_cast<int>(bytes <= (most - beside) / model.most_items ? bytes * model.most_items + beside : most);
  }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    const std::string_view method = context->method();
    try {
      constexpr std::string_view infer = "/inference.GRPCInferenceService/";
      if (method.starts_with(infer)) return inference_call(*context, method.substr(infer.size()));
      if (method == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" ||
          method == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        return answered([](std::span<const std::byte> request) { return reflection_answer(request); }, false);
      return new refused_message({grpc::StatusCode::UNIMPLEMENTED, "the service has no such method"});
    } catch (const std::bad_alloc&) {
      return nullptr;  // to gRPC a call that cannot be served
    }
  }
  grpc::ServerGenericBidiReactor* inference_call(grpc::GenericCallbackServerContext& context, std::string_view name) {
    using bytes = std::span<const std::byte>;
    if (name == "ModelInfer") {
      if (is_draining_.load()) return new refused_message({grpc::StatusCode::UNAVAILABLE, "the service is draining"});
      return calls_.take(model_, *worker_).start(context);
    }
    if (name == "ServerLive") return answered([](bytes) { return yes_or_no(true); });
    if (name == "ServerReady") return answered([this](bytes) { return yes_or_no(!is_draining_.load()); });
    if (name == "ModelReady")
      return answered([this](bytes request) {
        check_model_asked_for(request, model_);
        return yes_or_no(!is_draining_.load());
      });
    if (name == "ServerMetadata") return answered([this](bytes) { return server_metadata(model_); });
    if (name == "ModelMetadata")
      return answered([this](bytes request) {
        check_model_asked_for(request, model_);
        return model_metadata(model_);
      });
    return new refused_message({grpc::StatusCode::UNIMPLEMENTED, "the protocol has no such method"});
  }
  template <class Answer>
  static grpc::ServerGenericBidiReactor* answered(Answer answer, bool once = true) {
    return new answered_message<Answer>(std::move(answer), once);
  }

  const bool is_kept_ = keep_grpc();
  const served_model model_;
  const std::unique_ptr<infer_worker> worker_;
  infer_call_pool calls_;
  std::string address_;
  std::atomic<bool> is_draining_{false};
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace levada::detail
