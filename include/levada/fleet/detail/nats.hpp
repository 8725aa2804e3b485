// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/nats.hpp: connections, subscriptions and messages of libnats as objects.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nats/nats.h>

#include <levada/core/detail/bytes_hash.hpp>
#include <levada/core/detail/log.hpp>
#include <levada/fleet/detail/handshake_files.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/this_machine.hpp>

namespace levada::detail {

/// Deletes with one of libnats' functions.
template <auto Destroy>
struct nats_deleter {
  template <class T>
  void operator()(T* of) const noexcept {
    static_cast<void>(Destroy(of));
  }
};
using nats_message = std::unique_ptr<natsMsg, nats_deleter<natsMsg_Destroy>>;

/// The words of a device in messages: `levada: fleet "detect"`.
inline std::string words_of_fleet(std::string_view name) { return "levada: fleet \"" + std::string(name) + "\""; }

inline std::string words_of_status(natsStatus status) {
  std::string words = natsStatus_GetText(status);
  natsStatus last = NATS_OK;
  const char* const more = nats_GetLastError(&last);
  if (more == nullptr || last != status) return words;
  std::string_view behind = more;
  if (const std::size_t place = behind.find("): "); behind.starts_with('(') && place != behind.npos)
    behind.remove_prefix(place + 3);  // where in libnats
  if (!behind.empty() && behind != words) words.append(": ").append(behind);
  return words;
}
/// Throws remote_error where a call of libnats failed.
inline void check_nats(natsStatus status, const std::string& who, const char* doing) {
  if (status != NATS_OK) throw remote_error(who + ": " + doing + ": " + words_of_status(status));
}

inline std::span<const std::byte> bytes_of(natsMsg* m) {
  return {reinterpret_cast<const std::byte*>(natsMsg_GetData(m)), static_cast<std::size_t>(natsMsg_GetDataLength(m))};
}
inline std::string_view text_of(natsMsg* m) {
  return {natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))};
}
inline std::string_view header_of(natsMsg* m, const char* key) {
  const char* value = nullptr;
  return natsMsgHeader_Get(m, key, &value) == NATS_OK && value != nullptr ? std::string_view(value)
                                                                          : std::string_view();
}

/// A name that nobody else has, below which answers come.
inline std::string new_inbox(const std::string& who) {
  natsInbox* made = nullptr;
  check_nats(natsInbox_Create(&made), who, "cannot make an inbox");
  const std::unique_ptr<natsInbox, nats_deleter<natsInbox_Destroy>> kept(made);
  return made;
}

/// A number that nobody else has, made of such a name.
inline std::uint64_t new_number(const std::string& who) { return fnv1a(new_inbox(who)); }

/// Whether others wait for a message: it goes at once, by a call of the system of its own; else with what comes within
/// the millisecond, which is cheaper for both ends.
enum class haste : bool { none, some };

/// The servers that a program is connected to; where they go it connects again for as long as it lives.
class nats_connection {
 public:
  /// On which what subscriptions hear comes: one of the program's, or one of each.
  enum class threads : bool { few, each };
  /// Throws remote_error where none answers, or one is another machine and there are no certificates.
  nats_connection(std::string who, const jetstream& to, const std::string& name, threads hear = threads::each)
      : who_(std::move(who)) {
    natsOptions* made = nullptr;
    check(natsOptions_Create(&made), "no memory");
    const std::unique_ptr<natsOptions, nats_deleter<natsOptions_Destroy>> options(made);
    if (to.urls.empty()) throw remote_error(who_ + " has no server: `jetstream::urls` is empty");
    std::vector<const char*> urls;
    urls.reserve(to.urls.size());
    for (const std::string& url : to.urls) urls.push_back(url.c_str());
    check(natsOptions_SetServers(made, urls.data(), static_cast<int>(urls.size())), "these are no addresses");
    secure(made, to);
    natsOptions_UseGlobalMessageDelivery(made, hear == threads::few);
    natsOptions_SetName(made, name.c_str());
    natsOptions_SetMaxReconnect(made, -1);
    natsOptions_SetReconnectWait(made, 100);
    natsOptions_SetReconnectJitter(made, 100, 100);
    natsOptions_SetPingInterval(made, 2000);
    natsOptions_SetMaxPingsOut(made, 2);
    // Else libnats writes what it meets, a slow consumer or a server that went, to the program's own output.
    natsOptions_SetErrorHandler(made, &nats_connection::log_error, nullptr);
    connect(patient_, made, to);
    natsOptions_SetSendAsap(made, true);
    connect(connection_, made, to);
    jsCtx* context = nullptr;
    check(natsConnection_JetStream(&context, connection_.get(), nullptr), "JetStream");
    context_.reset(context);
  }

  natsConnection* get() const { return connection_.get(); }
  jsCtx* stored() const { return context_.get(); }
  const std::string& who() const { return who_; }
  /// The longest message, with its headers.
  std::size_t most_payload() const { return static_cast<std::size_t>(natsConnection_GetMaxPayload(connection_.get())); }

  bool is_connected() const noexcept { return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED; }
  /// How often servers were found again.
  std::uint64_t reconnections() const noexcept {
    natsStatistics* made = nullptr;
    if (natsStatistics_Create(&made) != NATS_OK) return 0;
    const std::unique_ptr<natsStatistics, nats_deleter<natsStatistics_Destroy>> kept(made);
    std::uint64_t count = 0;
    static_cast<void>(natsConnection_GetStats(connection_.get(), made));
    static_cast<void>(natsStatistics_GetCounts(made, nullptr, nullptr, nullptr, nullptr, &count));
    return count;
  }
  void check(natsStatus status, const char* doing) const { check_nats(status, who_, doing); }

  /// What does not go out is asked for again by who waits for its answer.
  void say(const char* subject, std::string_view text, haste is = haste::some) const noexcept {
    static_cast<void>(natsConnection_Publish(by(is), subject, text.data(), static_cast<int>(text.size())));
  }
  void publish(natsMsg* m, haste is) const noexcept { static_cast<void>(natsConnection_PublishMsg(by(is), m)); }
  void say(const char* subject, const char* reply, std::span<const std::byte> payload) const noexcept {
    static_cast<void>(
        natsConnection_PublishRequest(get(), subject, reply, payload.data(), static_cast<int>(payload.size())));
  }

 private:
  static void log_error(natsConnection* of, natsSubscription*, natsStatus status, void*) {
    if (!is_logged()) return;
    const char* last = nullptr;
    static_cast<void>(natsConnection_GetLastError(of, &last));
    log(log_level::warning,
        std::string("a connection to NATS: ") + (last != nullptr && *last != '\0' ? last : natsStatus_GetText(status)));
  }
  using owned = std::unique_ptr<natsConnection, nats_deleter<natsConnection_Destroy>>;

  natsConnection* by(haste is) const { return is == haste::some ? connection_.get() : patient_.get(); }
  void connect(owned& made, natsOptions* options, const jetstream& to) const {
    natsConnection* connected = nullptr;
    const natsStatus status = natsConnection_Connect(&connected, options);
    made.reset(connected);
    if (status == NATS_OK) return;
    std::string all;
    for (const std::string& url : to.urls) all += (all.empty() ? "" : ", ") + url;
    throw remote_error(who_ + " has no server: " + all + ": " + words_of_status(status));
  }
  void secure(natsOptions* options, const jetstream& to) const {
    const auto expect = [&](const std::string& name) {
      if (!name.empty()) check(natsOptions_SetExpectedHostname(options, name.c_str()), "the server's name");
    };
    const auto context = [&] {
      return handshake_files::context_made_by(who_, [&] { check(natsOptions_SetSecure(options, true), "no TLS"); });
    };
    if (const auto* const of = std::get_if<certificates>(&to.security)) {
      SSL_CTX_set_cert_store(context(), X509_STORE_new());  // else those whom the system believes are believed, too
      check(natsOptions_SetCATrustedCertificates(options, of->authority.c_str()), "the authority's certificate");
      if (!of->certificate.empty())
        check(natsOptions_SetCertificatesChain(options, of->certificate.c_str(), of->key.c_str()), "the certificate");
      return expect(of->node_name);
    }
    if (const auto* const of = std::get_if<certificate_files>(&to.security)) {
      check_readable(*of);
      handshake_files::read_by(context(), *of, who_);
      return expect(of->node_name);
    }
    for (const std::string& url : to.urls) {
      std::string_view address = url;
      if (const std::size_t scheme = address.find("://"); scheme != address.npos) address.remove_prefix(scheme + 3);
      if (const std::size_t user = address.rfind('@'); user != address.npos) address.remove_prefix(user + 1);
      check_plain_text(std::string(address), "jetstream");
    }
  }

  const std::string who_;
  owned patient_, connection_;
  std::unique_ptr<jsCtx, nats_deleter<jsCtx_Destroy>> context_;
};

/// The reconnections that one thread has seen.
class seen_reconnections {
 public:
  /// Since it was asked before.
  bool any_new(const nats_connection& by) noexcept {
    const std::uint64_t now = by.reconnections();
    return now != std::exchange(count_, now);
  }

 private:
  std::uint64_t count_ = 0;
};

/// Who hears the messages of a subscription, on a thread of it.
class nats_hearer {
 public:
  virtual void heard(nats_message m) noexcept = 0;

 protected:
  ~nats_hearer() = default;
};

/// Passes them to a member, `void take(nats_message& m)`; those at which it throws are logged.
template <auto Take>
class nats_member_hearer;
template <class Owner, void (Owner::*Take)(nats_message&)>
class nats_member_hearer<Take> final : public nats_hearer {
 public:
  nats_member_hearer(Owner& to, const nats_connection& by) : to_(to), by_(by) {}

 private:
  void heard(nats_message m) noexcept override {
    try {
      (to_.*Take)(m);
    } catch (const std::exception& e) {
      if (is_logged()) log(log_level::warning, by_.who() + ": a message is refused: " + e.what());
    }
  }

  Owner& to_;
  const nats_connection& by_;
};

/// What comes on a subject goes to `to` from now on, and nothing more when this has ended.
class nats_subscription {
 public:
  nats_subscription(const nats_connection& by, const std::string& subject, nats_hearer& to) : to_(to) {
    natsSubscription* made = nullptr;
    by.check(natsConnection_Subscribe(&made, by.get(), subject.c_str(), &nats_subscription::hear, this), "cannot hear");
    subscription_.reset(made);
    natsSubscription_SetPendingLimits(made, -1, -1);
    by.check(natsSubscription_SetOnCompleteCB(made, &nats_subscription::complete, this), "cannot hear");
  }
  ~nats_subscription() {
    // Where its connection is closed it has ended already.
    static_cast<void>(natsSubscription_Unsubscribe(subscription_.get()));
    is_complete_.wait(false);
  }
  nats_subscription(const nats_subscription&) = delete;
  nats_subscription& operator=(const nats_subscription&) = delete;

 private:
  static void hear(natsConnection*, natsSubscription*, natsMsg* m, void* self) {
    static_cast<nats_subscription*>(self)->to_.heard(nats_message(m));
  }
  static void complete(void* self) {
    auto& is_complete = static_cast<nats_subscription*>(self)->is_complete_;
    is_complete.store(true);
    is_complete.notify_all();
  }

  nats_hearer& to_;
  std::atomic<bool> is_complete_{false};
  std::unique_ptr<natsSubscription, nats_deleter<natsSubscription_Destroy>> subscription_;
};

}  // namespace levada::detail
