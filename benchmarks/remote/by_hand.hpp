// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/by_hand.hpp: a generic stream of gRPC to a server that sends back what comes, as one writes it by hand: a
// client that waits for its own completion queue, and a server of callbacks that reads on while it writes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace by_hand {

class echo final : public grpc::ServerGenericBidiReactor {
 public:
  echo() { StartRead(&read_); }

 private:
  void OnReadDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (!ok) {
      ended_ = true;
      if (!writes_) Finish(grpc::Status::OK);
      return;
    }
    has_read_ = true;
    go_on();
  }
  void OnWriteDone(bool) override {
    const std::lock_guard lock(mutex_);
    writes_ = false;
    if (ended_) return Finish(grpc::Status::OK);
    go_on();
  }
  void OnDone() override { delete this; }
  void go_on() {
    if (writes_ || !has_read_) return;
    written_.Clear();
    written_.Swap(&read_);
    writes_ = true;
    has_read_ = false;
    StartWrite(&written_);
    StartRead(&read_);
  }

  std::mutex mutex_;
  bool writes_ = false, has_read_ = false, ended_ = false;
  grpc::ByteBuffer read_, written_;
};

class stream {
 public:
  stream(const std::shared_ptr<grpc::ServerCredentials>& server,
         const std::shared_ptr<grpc::ChannelCredentials>& client, grpc::ChannelArguments arguments) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", server, &port);
    builder.RegisterCallbackGenericService(&service_);
    builder.SetMaxReceiveMessageSize(-1);
    server_ = builder.BuildAndStart();
    arguments.SetMaxReceiveMessageSize(-1);
    grpc::GenericStub stub(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), client, arguments));
    stream_ = stub.PrepareCall(&context_, "/bench/echo", &queue_);
    stream_->StartCall(&other_);
    while (next() != &other_) {
    }
    stream_->Read(&message_, &read_);
  }
  ~stream() {
    context_.TryCancel();
    while (next() != &read_) {
    }
    stream_->Finish(&status_, &other_);
    while (next() != &other_) {
    }
    server_->Shutdown();
  }

  /// `count` items there and back, so many of them at once; each is copied into and out of gRPC's buffers.
  void run(std::size_t count, std::size_t in_flight, const std::vector<std::uint8_t>& item,
           std::vector<std::uint8_t>& result) {
    std::size_t sent = 0, received = 0;
    bool writes = false;
    const auto send = [&] {
      if (writes || sent == count || sent - received == in_flight) return;
      const grpc::Slice slice(item.data(), item.size());
      const grpc::ByteBuffer message(&slice, 1);
      stream_->Write(message, &write_);
      writes = true;
      ++sent;
    };
    send();
    while (received != count) {
      if (next() == &write_) {
        writes = false;
      } else {
        slices_.clear();
        static_cast<void>(message_.Dump(&slices_));
        auto to = result.begin();
        for (const grpc::Slice& s : slices_) to = std::copy(s.begin(), s.end(), to);
        ++received;
        stream_->Read(&message_, &read_);
      }
      send();
    }
    while (writes) writes = next() != &write_;
  }

 private:
  class service final : public grpc::CallbackGenericService {
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override { return new echo; }
  };

  void* next() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return tag;
  }

  service service_;
  std::unique_ptr<grpc::Server> server_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  grpc::Status status_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer message_;
  std::vector<grpc::Slice> slices_;
  char write_ = 0, read_ = 0, other_ = 0;
};

}  // namespace by_hand
