// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/grpc_client.hpp: the driver's end of a stream of gRPC.

#include <cstddef>
#include <memory>
#include <string>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <levada/remote/detail/grpc_stream.hpp>

namespace levada::detail {

inline constexpr int keep_alive_ms = 5000;

template <class Arguments>
void set_keep_alive(Arguments set) {
  set(GRPC_ARG_KEEPALIVE_TIME_MS, keep_alive_ms);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keep_alive_ms);
  set(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  set(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, keep_alive_ms / 5);
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

/// It ends with its owner, never in a call of gRPC's: the last channel of a program joins the threads that make them.
class grpc_client_stream final : public grpc_stream, grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  grpc_client_stream(const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& as,
                     const std::string& node_name, std::size_t most_bytes)
      : stub_(channel_to(address, as, node_name, most_bytes)) {}

  void start() {
    stub_.PrepareBidiStreamingCall(&context_, grpc_method, {}, this);
    AddHold();  // writes come from outside
    begin_reading();
    StartCall();
  }
  void cancel() noexcept override { context_.TryCancel(); }

 private:
  static std::shared_ptr<grpc::Channel> channel_to(const std::string& address,
                                                   const std::shared_ptr<grpc::ChannelCredentials>& as,
                                                   const std::string& node_name, std::size_t most_bytes) {
    grpc::ChannelArguments arguments;
    set_keep_alive([&](const char* what, int value) { arguments.SetInt(what, value); });
    // Who connects again, and when, is the lane's to say.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(static_cast<int>(most_bytes));
    arguments.SetMaxSendMessageSize(-1);
    if (!node_name.empty()) arguments.SetSslTargetNameOverride(node_name);
    return grpc::CreateCustomChannel(address, as, arguments);
  }

  void write(const grpc::ByteBuffer& message) override { StartWrite(&message); }
  void read(grpc::ByteBuffer& message) override { StartRead(&message); }
  void finish() override { RemoveHold(); }

  void OnReadDone(bool ok) override { on_read(ok); }
  void OnWriteDone(bool ok) override { on_write(ok); }
  void OnDone(const grpc::Status& status) override {
    on_done(status.error_message().empty() ? "the node ended the connection" : status.error_message());
  }

  grpc::ClientContext context_;
  grpc::GenericStub stub_;
};

inline std::unique_ptr<connection> connect_by_grpc(const std::string& address,
                                                   const std::shared_ptr<grpc::ChannelCredentials>& as,
                                                   const std::string& node_name, std::size_t most_bytes,
                                                   connection_events& events) {
  const auto stream = std::make_shared<grpc_client_stream>(address, as, node_name, most_bytes);
  stream->set_events(events);
  auto made = std::make_unique<grpc_connection>(stream, address);
  made->set_started();
  stream->start();
  return made;
}

}  // namespace levada::detail
