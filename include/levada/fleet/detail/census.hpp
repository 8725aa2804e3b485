// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/census.hpp: what program the others of a fleet are: drivers ask workers, and workers drivers. Who is of
// another program answers with the first thing that differs.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <levada/fleet/detail/nats.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/identity.hpp>

namespace levada::detail {

/// Answers while it is there.
class census_answer final : nats_hearer {
 public:
  census_answer(const nats_connection& by, const std::string& subject, std::string_view identity, bool is_driver)
      : by_(by), identity_(identity), is_driver_(is_driver), asked_(by, subject, *this) {}

 private:
  void heard(nats_message m) noexcept override {
    const char* const reply = natsMsg_GetReply(m.get());
    if (reply == nullptr) return;
    try {
      const std::string_view theirs = text_of(m.get()).substr(0, most_text_bytes);
      by_.say(reply, is_driver_ ? first_difference(identity_, theirs) : first_difference(theirs, identity_));
    } catch (...) {  // no memory: as if nobody were here
    }
  }

  const nats_connection& by_;
  const std::string_view identity_;
  const bool is_driver_;
  nats_subscription asked_;
};

/// Asks those on a subject. Empty: one of them is of the same program, or there are none; else in what one differs.
inline std::string ask_census(const nats_connection& by, const std::string& subject, std::string_view identity) {
  constexpr std::chrono::milliseconds longest{500};
  const std::string inbox = new_inbox(by.who());
  natsSubscription* made = nullptr;
  by.check(natsConnection_SubscribeSync(&made, by.get(), inbox.c_str()), "cannot hear");
  const std::unique_ptr<natsSubscription, nats_deleter<natsSubscription_Destroy>> answers(made);
  by.say(subject.c_str(), inbox.c_str(), std::as_bytes(std::span(identity)));
  std::string difference;
  const auto ends = std::chrono::steady_clock::now() + longest;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(ends - std::chrono::steady_clock::now()).count();
    natsMsg* m = nullptr;
    if (left <= 0 || natsSubscription_NextMsg(&m, made, left) != NATS_OK) return difference;
    const nats_message answer(m);
    if (natsMsg_IsNoResponders(m) || natsMsg_GetDataLength(m) == 0) return {};
    if (difference.empty()) difference = std::string(text_of(m));
  }
}

}  // namespace levada::detail
