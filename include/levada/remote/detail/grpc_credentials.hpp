// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/grpc_credentials.hpp: certificates and addresses as gRPC's servers take them.

#include <memory>
#include <string>
#include <string_view>

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>

#include <levada/remote/detail/certificates.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/this_machine.hpp>

namespace levada::detail {

/// gRPC is there until the process ends: where its last user goes while it still closes something, it waits for ten
/// seconds.
inline bool keep_grpc() {
  static const bool once = (grpc_init(), true);
  return once;
}

inline std::shared_ptr<grpc::ServerCredentials> server_credentials(const certificates& of) {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = of.authority;
  options.pem_key_cert_pairs.push_back({of.key, of.certificate});
  return grpc::SslServerCredentials(options);
}
inline std::shared_ptr<grpc::ServerCredentials> server_credentials(plain_text) {
  return grpc::InsecureServerCredentials();
}

/// Starts a server at an address, and completes that by the port that the system chose. Throws remote_error, with who
/// cannot listen.
inline std::unique_ptr<grpc::Server> start_listening(grpc::ServerBuilder& builder, std::string& address,
                                                     const std::shared_ptr<grpc::ServerCredentials>& as,
                                                     std::string_view who) {
  int port = 0;
  builder.AddListeningPort(address, as, &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) throw remote_error("levada: " + std::string(who) + " cannot listen at \"" + address + "\"");
  if (!address.starts_with("unix")) address = address.substr(0, address.rfind(':') + 1) + std::to_string(port);
  return server;
}

}  // namespace levada::detail
