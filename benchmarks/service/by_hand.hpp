// SPDX-License-Identifier: Apache-2.0
#pragma once
// service/by_hand.hpp: a server of gRPC that answers each message with the same bytes, as one writes it by hand, and
// clients who each send the same message and wait for its answer.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace by_hand {

inline grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

/// The callback interface, whose message is never read into anything.
class server {
 public:
  explicit server(std::string answer) : service_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
  }
  ~server() { server_->Shutdown(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  class call final : public grpc::ServerGenericBidiReactor {
   public:
    explicit call(const std::string& answer) : answer_(answer) { StartRead(&message_); }

   private:
    void OnReadDone(bool ok) override {
      if (!ok) return Finish({grpc::StatusCode::INVALID_ARGUMENT, "no message"});
      grpc::ByteBuffer made = buffer_of(answer_);
      message_.Swap(&made);
      StartWriteAndFinish(&message_, {}, grpc::Status::OK);
    }
    void OnDone() override { delete this; }

    const std::string& answer_;
    grpc::ByteBuffer message_;
  };
  class service final : public grpc::CallbackGenericService {
   public:
    explicit service(std::string answer) : answer_(std::move(answer)) {}

   private:
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
      return new call(answer_);
    }
    const std::string answer_;
  };

  service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// So many of them, on connections of their own, all served by the thread that calls `run`.
class clients {
 public:
  clients(const std::string& address, std::size_t count, const std::string& request) : request_(buffer_of(request)) {
    for (std::size_t i = 0; i < count; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      all_.push_back(
          std::make_unique<client>(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments)));
    }
  }
  ~clients() {
    queue_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) {
    }
  }

  /// So many requests of all together. Says how many were answered well.
  std::size_t run(std::size_t requests) {
    std::size_t sent = 0, good = 0;
    for (; sent < all_.size() && sent < requests; ++sent) send(*all_[sent]);
    for (std::size_t answered = 0; answered < requests; ++answered) {
      void* tag = nullptr;
      bool ok = false;
      queue_.Next(&tag, &ok);
      client& from = *static_cast<client*>(tag);
      good += from.status.ok() ? 1 : 0;
      if (!from.status.ok()) last_error_ = from.status.error_message();
      if (sent == requests) continue;
      send(from);
      ++sent;
    }
    return good;
  }
  /// The bytes of the last answer to the first of them.
  std::string answer() const {
    grpc::ByteBuffer of = all_.front()->answer;
    grpc::Slice slice;
    static_cast<void>(of.DumpToSingleSlice(&slice));
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  }
  const std::string& last_error() const { return last_error_; }

 private:
  struct client {
    explicit client(std::shared_ptr<grpc::Channel> channel) : stub(std::move(channel)) {}
    grpc::GenericStub stub;
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> call;
    grpc::ByteBuffer answer;
    grpc::Status status;
  };

  void send(client& by) {
    by.call.reset();
    by.context = std::make_unique<grpc::ClientContext>();
    by.answer.Clear();
    by.call =
        by.stub.PrepareUnaryCall(by.context.get(), "/inference.GRPCInferenceService/ModelInfer", request_, &queue_);
    by.call->StartCall();
    by.call->Finish(&by.answer, &by.status, &by);
  }

  grpc::ByteBuffer request_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<client>> all_;
  std::string last_error_;
};

}  // namespace by_hand
