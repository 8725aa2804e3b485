// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/waiting_messages.hpp: whether a message of a work queue is still to come to a worker. A server that is
// killed lacks the last messages that it had acknowledged; its stream goes on with the numbers that they had, and the
// consumer may have passed these already.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/streams.hpp>

namespace levada::detail {

/// Of a message: stored and not acknowledged; neither; or no server has said it in time.
enum class whereabouts : std::uint8_t { there, nowhere, unknown };

/// As it is when this is made.
class waiting_messages {
 public:
  waiting_messages(const nats_connection& by, const std::string& stream, const std::string& consumer)
      : by_(by), stream_(stream), options_(options_within(in_passing)) {
    jsConsumerInfo* made = nullptr;
    if (js_GetConsumerInfo(&made, by.stored(), stream.c_str(), consumer.c_str(), &options_, nullptr) != NATS_OK) return;
    const std::unique_ptr<jsConsumerInfo, nats_deleter<jsConsumerInfo_Destroy>> info(made);
    is_known_ = true;
    acknowledged_ = info->AckFloor.Stream;
  }

  /// Of the message that was stored there, with that id.
  whereabouts find(std::uint64_t sequence, std::string_view id) {
    if (!is_known_) return whereabouts::unknown;
    if (sequence <= acknowledged_) return whereabouts::nowhere;
    natsMsg* made = nullptr;
    jsErrCode code{};
    const natsStatus status = js_GetMsg(&made, by_.stored(), stream_.c_str(), sequence, &options_, &code);
    const nats_message found(made);
    if (status == NATS_NOT_FOUND || code == JSNoMessageFoundErr) return whereabouts::nowhere;
    if (status != NATS_OK) return whereabouts::unknown;
    return header_of(found.get(), "Nats-Msg-Id") == id ? whereabouts::there : whereabouts::nowhere;
  }

 private:
  const nats_connection& by_;
  const std::string& stream_;
  jsOptions options_;
  bool is_known_ = false;
  std::uint64_t acknowledged_ = 0;  ///< that one, and all before it
};

}  // namespace levada::detail
