// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/grpc_server.hpp: a node's end of streams of gRPC, and the server that lets them in.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <levada/remote/detail/grpc_client.hpp>
#include <levada/remote/detail/grpc_credentials.hpp>
#include <levada/remote/detail/grpc_stream.hpp>
#include <levada/remote/detail/transport.hpp>

namespace levada::detail {

class grpc_server_stream final : public grpc_stream, public grpc::ServerGenericBidiReactor {
 public:
  explicit grpc_server_stream(grpc::GenericCallbackServerContext* context) : context_(context) {}

  void start(const std::shared_ptr<grpc_server_stream>& self) {
    self_ = self;
    begin_reading();
  }
  void cancel() noexcept override {
    const std::lock_guard lock(ending_);
    if (context_ != nullptr) context_->TryCancel();
  }

 private:
  void write(const grpc::ByteBuffer& message) override { StartWrite(&message); }
  void read(grpc::ByteBuffer& message) override { StartRead(&message); }
  void finish() override { Finish(grpc::Status::OK); }

  void OnReadDone(bool ok) override { on_read(ok); }
  void OnWriteDone(bool ok) override { on_write(ok); }
  void OnDone() override {
    const std::shared_ptr<grpc_server_stream> self = std::move(self_);
    {
      const std::lock_guard lock(ending_);
      context_ = nullptr;
    }
    on_done("the driver ended the connection");
  }

  std::mutex ending_;
  grpc::GenericCallbackServerContext* context_;  ///< until the stream is done
  std::shared_ptr<grpc_server_stream> self_;
};

/// Ends at once.
class grpc_refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit grpc_refusal(const grpc::Status& why) { Finish(why); }

 private:
  void OnDone() override { delete this; }
};

class grpc_listener final : public listener, grpc::CallbackGenericService {
 public:
  grpc_listener(const std::string& address, const std::shared_ptr<grpc::ServerCredentials>& as, std::size_t most_bytes,
                connection_acceptor& acceptor)
      : acceptor_(acceptor), address_(address) {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(static_cast<int>(most_bytes));
    builder.SetMaxSendMessageSize(-1);
    set_keep_alive([&](const char* what, int value) { builder.AddChannelArgument(what, value); });
    server_ = start_listening(builder, address_, as, "a node");
  }
  ~grpc_listener() override {
    stop();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    server_->Wait();
  }

  std::string address() const override { return address_; }
  void stop() noexcept override { is_stopped_.store(true); }

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    if (context->method() != grpc_method)
      return new grpc_refusal({grpc::StatusCode::UNIMPLEMENTED, "a node of levada has no such method"});
    if (is_stopped_.load()) return new grpc_refusal({grpc::StatusCode::UNAVAILABLE, "the node ends"});
    const auto stream = std::make_shared<grpc_server_stream>(context);
    auto made = std::make_unique<grpc_connection>(stream, context->peer());
    grpc_connection* const connection = made.get();
    connection_events* const events = acceptor_.accepted(std::move(made));
    if (events == nullptr)
      return new grpc_refusal({grpc::StatusCode::RESOURCE_EXHAUSTED, "the node has as many sessions as it may"});
    connection->set_started();
    stream->set_events(*events);
    stream->start(stream);
    return stream.get();
  }

  connection_acceptor& acceptor_;
  std::string address_;
  std::atomic<bool> is_stopped_{false};
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace levada::detail
