// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/puller.hpp: the messages of a consumer, as many as there is room for. A request stays at the server
// until messages come, so that nobody polls; the server shows that it still has it, and one that it has lost is made
// again.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/short_text.hpp>

namespace levada::detail {

class puller final : nats_hearer {
 public:
  using clock = std::chrono::steady_clock;

  /// Messages go to `to`, some more than were asked for at times.
  puller(const nats_connection& by, const std::string& stream, const std::string& consumer, nats_hearer& to)
      : by_(by),
        to_(to),
        api_("$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer),
        inbox_(new_inbox(by.who()) + "."),
        messages_(by, inbox_ + "*", *this) {}

  /// There is room for so many messages beside those that came. Any thread.
  void set_room(std::size_t room) {
    const std::lock_guard lock(mutex_);
    room_ = room;
    if (clock::now() >= not_before_) ask();
  }
  /// Looks after requests that were lost; every tenth of a second or so. True: the server may not know the consumer.
  bool keep() {
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    bool is_lost = is_unknown_;
    const bool has_reconnected = reconnections_.any_new(by_);
    if (asked_ != 0 && (has_reconnected || now >= lost_at_)) {
      asked_ = 0;
      is_known_ = false;
      is_lost = true;
    }
    if (now >= not_before_) ask();
    return is_lost;
  }

 private:
  static constexpr std::chrono::seconds expires{30}, heartbeat{1};
  /// Of a consumer that is not there no server says anything: until the first answer requests are short.
  static constexpr std::chrono::milliseconds first_expires{250};

  /// Not for each message alone, unless none is under way.
  void ask() {
    if (room_ <= asked_ || (asked_ != 0 && asked_ > room_ / 2)) return;
    const std::size_t batch = room_ - asked_;
    const auto nanoseconds = [](std::chrono::nanoseconds of) { return static_cast<std::uint64_t>(of.count()); };
    short_text text;
    text.add("{\"batch\":").add(batch).add(",\"expires\":");
    if (is_known_)
      text.add(nanoseconds(expires)).add(",\"idle_heartbeat\":").add(nanoseconds(heartbeat));
    else
      text.add(nanoseconds(first_expires));
    text.add("}");
    const short_text reply = short_text().add(inbox_).add(++requests_);
    by_.say(api_.c_str(), reply.c_str(), std::as_bytes(std::span(text.view())));
    asked_ += batch;
    heard_of();
  }
  void heard_of() {
    lost_at_ = clock::now() + (is_known_ ? 3 * std::chrono::milliseconds(heartbeat) : first_expires * 5 / 4);
  }

  void set_known() {
    is_known_ = true;
    is_unknown_ = false;
  }
  void heard(nats_message m) noexcept override {
    const std::string_view status = header_of(m.get(), "Status");
    {
      const std::lock_guard lock(mutex_);
      if (!status.empty() || natsMsg_IsNoResponders(m.get())) return take_status(m.get(), status);
      set_known();
      heard_of();
      if (asked_ != 0) --asked_;
      if (room_ != 0) --room_;
    }
    to_.heard(std::move(m));
  }
  void take_status(natsMsg* m, std::string_view status) noexcept {
    if (status == "100" || status == "408") {
      set_known();
      heard_of();
    }
    if (status == "100") return;
    if (status == "408") {  // its time is over
      const std::string_view left = header_of(m, "Nats-Pending-Messages");
      std::size_t unfilled = asked_;
      std::from_chars(left.data(), left.data() + left.size(), unfilled);
      asked_ -= std::min(asked_, unfilled);
      return ask();
    }
    // The consumer is not there, or has lost its leader.
    is_unknown_ = true;
    is_known_ = false;
    asked_ = 0;
    not_before_ = clock::now() + std::chrono::milliseconds(100);
  }

  const nats_connection& by_;
  nats_hearer& to_;
  const std::string api_, inbox_;
  std::mutex mutex_;
  std::size_t room_ = 0, asked_ = 0;  ///< asked for and not here
  std::uint64_t requests_ = 0;
  seen_reconnections reconnections_;
  bool is_known_ = false;    ///< the server has answered
  bool is_unknown_ = false;  ///< and said that it is not there
  clock::time_point lost_at_{}, not_before_{};
  nats_subscription messages_;  ///< behind all that it looks at
};

}  // namespace levada::detail
