// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/grpc_credentials.hpp: certificates and addresses as gRPC's servers take them.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

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

/// Throws remote_error where one of them cannot be read, since gRPC would only refuse all connections.
inline std::shared_ptr<grpc::experimental::CertificateProviderInterface> watched_files(const certificate_files& of) {
  check_readable(of);
  const auto every = std::max(of.read_every, std::chrono::seconds(1)).count();
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(of.key, of.certificate, of.authority,
                                                                              static_cast<unsigned>(every));
}

inline std::shared_ptr<grpc::ServerCredentials> server_credentials(const certificates& of) {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = of.authority;
  options.pem_key_cert_pairs.push_back({of.key, of.certificate});
  return grpc::SslServerCredentials(options);
}
inline std::shared_ptr<grpc::ServerCredentials> server_credentials(const certificate_files& of) {
  grpc::experimental::TlsServerCredentialsOptions options(watched_files(of));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}
inline std::shared_ptr<grpc::ServerCredentials> server_credentials(plain_text) {
  return grpc::InsecureServerCredentials();
}

inline std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const certificates& of) {
  return grpc::SslCredentials({of.authority, of.key, of.certificate});
}
inline std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const certificate_files& of) {
  const auto files = watched_files(of);  // first: gRPC 1.51 does not free options that are given up
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(files);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}
inline std::shared_ptr<grpc::ChannelCredentials> channel_credentials(plain_text) {
  return grpc::InsecureChannelCredentials();
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
