// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/lease.hpp: keys of a bucket, each of which one process at a time has. Who does not renew a key in time
// loses it. A lease saves work that two would do; it fences nobody.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/nats.hpp>

namespace levada::detail {

class lease_bucket {
 public:
  static constexpr std::size_t most_bytes = 1 << 20;

  /// Throws remote_error where the bucket is not there.
  lease_bucket(const nats_connection& by, const std::string& bucket) {
    jsOptions soon;
    jsOptions_Init(&soon);
    soon.Wait = 500;  // a lease is short
    jsCtx* context = nullptr;
    by.check(natsConnection_JetStream(&context, by.get(), &soon), "JetStream");
    context_.reset(context);
    kvStore* made = nullptr;
    by.check(js_KeyValue(&made, context, bucket.c_str()), "its bucket of leases cannot be had");
    store_.reset(made);
  }
  /// Makes it where it is not there.
  static void keep(const nats_connection& by, const std::string& bucket, const jetstream& to) {
    kvStore* found = nullptr;
    natsStatus status = js_KeyValue(&found, by.stored(), bucket.c_str());
    if (status == NATS_NOT_FOUND) {
      kvConfig c;
      kvConfig_Init(&c);
      c.Bucket = bucket.c_str();
      c.History = 1;
      c.TTL = std::chrono::nanoseconds(to.lease).count();
      c.MaxBytes = most_bytes;
      c.Replicas = to.replicas;
      status = js_CreateKeyValue(&found, by.stored(), &c);
    }
    const std::unique_ptr<kvStore, destroy> kept(found);
    by.check(status, "its bucket of leases cannot be had");
    kvStatus* is = nullptr;
    by.check(kvStore_Status(&is, found), "its bucket of leases cannot be had");
    const std::int64_t has = kvStatus_TTL(is);
    kvStatus_Destroy(is);
    if (has != std::chrono::nanoseconds(to.lease).count())
      throw remote_error(by.who() + ": the bucket " + bucket + " has a lease of " + std::to_string(has / 1'000'000) +
                         " ms, and not " + std::to_string(to.lease.count()));
  }

  /// The revision of the key, where nobody had it.
  std::optional<std::uint64_t> take(const std::string& key, const std::string& who) const noexcept {
    std::uint64_t revision = 0;
    if (kvStore_CreateString(&revision, store_.get(), key.c_str(), who.c_str()) != NATS_OK) return std::nullopt;
    return revision;
  }
  /// The revision, where somebody has it whose name begins so.
  std::optional<std::uint64_t> take_over(const std::string& key, const std::string& who,
                                         std::string_view begins) const noexcept {
    kvEntry* found = nullptr;
    if (kvStore_Get(&found, store_.get(), key.c_str()) != NATS_OK) return std::nullopt;
    const std::unique_ptr<kvEntry, nats_deleter<kvEntry_Destroy>> entry(found);
    const char* const has = kvEntry_ValueString(found);
    if (has == nullptr || !std::string_view(has).starts_with(begins)) return std::nullopt;
    std::uint64_t revision = 0;
    const auto last = kvEntry_Revision(found);
    if (kvStore_UpdateString(&revision, store_.get(), key.c_str(), who.c_str(), last) != NATS_OK) return std::nullopt;
    return revision;
  }
  enum class renewal { done, lost, unknown };
  /// `revision` is the new one where it is done. Lost: somebody else has it. Unknown: no server has answered.
  renewal renew(const std::string& key, const std::string& who, std::uint64_t& revision) const noexcept {
    std::uint64_t next = 0;
    const natsStatus status = kvStore_UpdateString(&next, store_.get(), key.c_str(), who.c_str(), revision);
    if (status == NATS_OK) revision = next;
    if (status == NATS_OK) return renewal::done;
    return status == NATS_ERR ? renewal::lost : renewal::unknown;
  }
  void give_back(const std::string& key) const noexcept {
    static_cast<void>(kvStore_Delete(store_.get(), key.c_str()));
  }

 private:
  struct destroy {
    void operator()(kvStore* of) const noexcept { kvStore_Destroy(of); }
  };
  std::unique_ptr<jsCtx, nats_deleter<jsCtx_Destroy>> context_;
  std::unique_ptr<kvStore, destroy> store_;
};

}  // namespace levada::detail
