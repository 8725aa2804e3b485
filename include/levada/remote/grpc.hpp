// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/grpc.hpp: connections between machines by gRPC: a generic bidirectional stream each. Needs its headers and
// libraries (Debian package libgrpc++-dev; target `gRPC::grpc++`, pkg-config `grpc++`). A program includes it in the
// one source that makes its transports.

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <grpcpp/grpcpp.h>

#include <levada/remote/detail/certificates.hpp>
#include <levada/remote/detail/grpc_client.hpp>
#include <levada/remote/detail/grpc_credentials.hpp>
#include <levada/remote/detail/grpc_server.hpp>
#include <levada/remote/detail/transport.hpp>

namespace levada {

/// Addresses are gRPC's: "10.0.0.7:7000", "edge.local:7000", "unix:/run/edge". Port 0 of a node: any.
class grpc_transport final : public transport {
 public:
  explicit grpc_transport(const certificates& of) : grpc_transport(of, of.node_name) {}
  /// Throws remote_error where a file cannot be read.
  explicit grpc_transport(const certificate_files& of) : grpc_transport(of, of.node_name) {}
  explicit grpc_transport(plain_text as) : grpc_transport(as, {}) {}

  std::unique_ptr<connection> connect(const std::string& address, std::size_t most_bytes,
                                      connection_events& events) override {
    check(address);
    return detail::connect_by_grpc(address, to_nodes_, node_name_, most_bytes, events);
  }
  std::unique_ptr<listener> listen(const std::string& address, std::size_t most_bytes,
                                   connection_acceptor& acceptor) override {
    check(address);
    return std::make_unique<detail::grpc_listener>(address, to_drivers_, most_bytes, acceptor);
  }

 private:
  template <class Security>
  grpc_transport(const Security& as, std::string node_name)
      : is_plain_(std::is_same_v<Security, plain_text>),
        node_name_(std::move(node_name)),
        to_nodes_(detail::channel_credentials(as)),
        to_drivers_(detail::server_credentials(as)) {}

  void check(const std::string& address) const {
    if (is_plain_) detail::check_plain_text(address, "grpc_transport");
  }

  const bool is_kept_ = detail::keep_grpc();
  const bool is_plain_;
  const std::string node_name_;
  const std::shared_ptr<grpc::ChannelCredentials> to_nodes_;
  const std::shared_ptr<grpc::ServerCredentials> to_drivers_;
};

}  // namespace levada
