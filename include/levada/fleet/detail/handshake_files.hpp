// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/handshake_files.hpp: certificates that a connection of libnats reads from their files at each handshake.
// What a connection shows and believes is fixed in a context of OpenSSL that libnats keeps to itself. OpenSSL tells who
// asks of each context that it makes, and at each handshake asks what the context was told to.

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <levada/core/detail/log.hpp>
#include <levada/remote/detail/certificates.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// The files of the connections of one context, which deletes it.
class handshake_files {
 public:
  handshake_files(const certificate_files& of, std::string who) : of_(of), who_(std::move(who)) {}

  /// The context that `make` has OpenSSL make on this thread. Throws remote_error where there is none.
  template <class Make>
  static SSL_CTX* context_made_by(const std::string& who, const Make& make) {
    static_cast<void>(place());
    last_made() = nullptr;
    make();
    SSL_CTX* const made = std::exchange(last_made(), nullptr);
    if (made == nullptr) throw remote_error(who + ": certificates need a libnats that has the OpenSSL of this program");
    return made;
  }
  static void read_by(SSL_CTX* context, const certificate_files& of, const std::string& who) {
    auto files = std::make_unique<handshake_files>(of, who);
    if (SSL_CTX_set_ex_data(context, place(), files.get()) != 1) throw std::bad_alloc();
    static_cast<void>(files.release());
    SSL_CTX_set_info_callback(context, &handshake_files::begin);
  }

 private:
  static SSL_CTX*& last_made() {
    thread_local SSL_CTX* last = nullptr;
    return last;
  }
  static int place() {
    static const int at = SSL_CTX_get_ex_new_index(0, nullptr, &handshake_files::note, nullptr, &handshake_files::end);
    return at;
  }
  static void note(void* context, void*, CRYPTO_EX_DATA*, int, long, void*) {
    last_made() = static_cast<SSL_CTX*>(context);
  }
  static void end(void*, void* files, CRYPTO_EX_DATA*, int, long, void*) {
    delete static_cast<handshake_files*>(files);
  }

  static void begin(const SSL* of, int what, int) noexcept {
    if ((what & SSL_CB_HANDSHAKE_START) == 0) return;
    SSL* const connection = const_cast<SSL*>(of);  // OpenSSL's callback for all that happens may change it
    if (const void* const files = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), place()))
      static_cast<const handshake_files*>(files)->give_to(connection);
  }
  /// Where a file is not as it should be it believes nobody, and libnats tries again.
  void give_to(SSL* connection) const {
    X509_STORE* believed = X509_STORE_new();
    std::string_view mistaken;
    if (X509_STORE_load_locations(believed, of_.authority.c_str(), nullptr) != 1)
      mistaken = of_.authority;
    else if (SSL_use_certificate_chain_file(connection, of_.certificate.c_str()) != 1)
      mistaken = of_.certificate;
    else if (SSL_use_PrivateKey_file(connection, of_.key.c_str(), SSL_FILETYPE_PEM) != 1)
      mistaken = of_.key;  // or it is of another certificate
    if (!mistaken.empty()) {
      const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
      if (is_logged())
        log(log_level::warning, who_ + ": certificate_files: \"" + std::string(mistaken) +
                                    "\": " + (reason != nullptr ? reason : "it cannot be read"));
      X509_STORE_free(believed);
      believed = X509_STORE_new();
    }
    ERR_clear_error();
    SSL_set0_verify_cert_store(connection, believed);
  }

  const certificate_files of_;
  const std::string who_;
};

}  // namespace levada::detail
