// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/session_consumers.hpp: the consumers by which a session's items go and its outcomes come. A server that
// was killed may have forgotten one, or the last numbers of its stream: what is stored under numbers that the consumer
// has passed comes to nobody, and the consumer is made anew.

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include <levada/core/detail/log.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/streams.hpp>

namespace levada::detail {

/// Ends a consumer that is ahead of its stream. False: there is none that is. Throws remote_error where no server says.
inline bool end_consumer_ahead(const nats_connection& by, const std::string& stream, const std::string& consumer) {
  jsOptions options = options_within(in_passing);
  jsErrCode code{};
  jsConsumerInfo* found = nullptr;
  const natsStatus status = js_GetConsumerInfo(&found, by.stored(), stream.c_str(), consumer.c_str(), &options, &code);
  const std::unique_ptr<jsConsumerInfo, nats_deleter<jsConsumerInfo_Destroy>> info(found);
  if (status == NATS_NOT_FOUND || code == JSConsumerNotFoundErr) return false;
  by.check(status, "a consumer cannot be read");
  jsStreamInfo* of = nullptr;
  by.check(js_GetStreamInfo(&of, by.stored(), stream.c_str(), &options, nullptr), "a stream cannot be read");
  const std::unique_ptr<jsStreamInfo, nats_deleter<jsStreamInfo_Destroy>> kept(of);
  if (info->Delivered.Stream <= of->State.LastSeq) return false;
  by.check(js_DeleteConsumer(by.stored(), stream.c_str(), consumer.c_str(), &options, nullptr),
           "a consumer that is ahead of its stream cannot be ended");
  if (is_logged()) log(log_level::warning, by.who() + ": a consumer was ahead of the stream " + stream);
  return true;
}

/// Of one thread.
class session_consumers {
 public:
  session_consumers(const nats_connection& by, const fleet_names& names, const jetstream& to,
                    const session_outcomes& outcomes)
      : by_(by), names_(names), to_(to), outcomes_(outcomes) {}

  /// A server has come again, or lacks something.
  void doubt() { is_doubted_ = true; }
  /// `is_unknown`: the server may not know that of the outcomes. True: outcomes may have been dropped.
  bool keep(bool is_unknown) noexcept {
    try {
      if (is_doubted_ && clock::now() >= look_at_) {
        look_at_ = clock::now() + std::chrono::seconds(1);
        if (end_consumer_ahead(by_, names_.outcomes_stream, hex(outcomes_.consumer))) is_unknown = true;
        if (end_consumer_ahead(by_, names_.items_stream, names_.consumer)) keep_items_consumer(by_, names_, to_);
        is_doubted_ = false;
      }
      const bool has_dropped = is_unknown && !keep_outcomes_consumer(by_, names_, outcomes_, in_passing);
      if (is_unknown) said_.clear();
      return has_dropped;
    } catch (const std::exception& e) {
      if (is_logged() && said_ != e.what()) log(log_level::warning, said_ = e.what());
      return false;
    }
  }

 private:
  using clock = std::chrono::steady_clock;

  const nats_connection& by_;
  const fleet_names& names_;
  const jetstream& to_;
  const session_outcomes outcomes_;
  bool is_doubted_ = false;
  std::string said_;  ///< since it was well
  clock::time_point look_at_{};
};

}  // namespace levada::detail
