// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/kept_session.hpp: a lane's part of a session with a name. The message of an outcome is acknowledged when
// the servers know that it is done, and not before: what is not comes again to the next driver. Outcomes that come
// before their items, of a driver that died, wait here for them.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/session_keeper.hpp>
#include <levada/fleet/detail/session_progress.hpp>
#include <levada/fleet/detail/session_record.hpp>
#include <levada/fleet/detail/stored_items.hpp>
#include <levada/fleet/detail/streams.hpp>

namespace levada::detail {

class kept_session final : public session_keeper {
 public:
  /// As a session_keeper.
  kept_session(const nats_connection& by, const fleet_names& names, const jetstream& to, std::uint64_t program,
               std::shared_ptr<session_progress> of, std::size_t slots)
      : session_keeper(by, names, to, std::move(of)),
        by_(by),
        consumer_{number_of_session(progress().name()), record().owner(), named_driver_may_be_gone},
        most_held_(4 * slots) {
    held_.reserve(most_held_);
    // What is stored comes to the new consumer, too, as long as an older one is there.
    keep_outcomes_consumer(by, names, consumer_, at_leisure);
    if (!record().consumers().empty()) {
      // In this order: an item that is stored no more has an outcome that is.
      stored_.read(by, names, consumer_.session, program);
      awaited_ = stored_outcomes(names);
      waits_until_ = session_progress::clock::now() + std::chrono::seconds(2);
    }
    for (const std::uint64_t before : record().consumers()) end_outcomes_consumer(by, names, before);
    begin({before().done, std::numeric_limits<std::uint64_t>::max()});
  }
  ~kept_session() override { end(); }

  const session_outcomes& consumer() const { return consumer_; }

  /// Of the driver before. Of one lock.
  stored_items& stored() { return stored_; }
  /// A message of outcomes has come. True: with it all of the driver before.
  bool hear_one() { return heard_.fetch_add(1) + 1 == awaited_; }
  /// What comes without an outcome has none yet; or these do not come.
  bool has_heard_all() const { return heard_.load() >= awaited_ || session_progress::clock::now() > waits_until_; }

  /// A message of outcomes, the last of which is of that item. It comes again where it is not acknowledged for long.
  void hold(nats_message m, std::uint64_t last) {
    const char* const reply = natsMsg_GetReply(m.get());
    if (reply == nullptr) return;
    const std::uint64_t sequence = delivery_numbers_of(reply).of_stream;
    const std::lock_guard lock(mutex_);
    for (const held& h : held_)
      if (h.sequence == sequence) return;
    // Of items without a result, since when nothing was popped. Where the driver dies they run again.
    if (held_.size() == most_held_) {
      const auto oldest =
          std::min_element(held_.begin(), held_.end(), [](const held& a, const held& b) { return a.last < b.last; });
      acknowledge(oldest->message.get());
      std::swap(*oldest, held_.back());
      held_.pop_back();
    }
    held_.push_back({std::move(m), sequence, last});
  }

 private:
  struct held {
    nats_message message;
    std::uint64_t sequence, last;
  };

  std::uint64_t stored_outcomes(const fleet_names& names) const {
    jsOptions options = options_within(at_leisure);
    jsConsumerInfo* found = nullptr;
    by_.check(js_GetConsumerInfo(&found, by_.stored(), names.outcomes_stream.c_str(), hex(consumer_.consumer).c_str(),
                                 &options, nullptr),
              "a consumer cannot be read");
    const std::unique_ptr<jsConsumerInfo, nats_deleter<jsConsumerInfo_Destroy>> info(found);
    return info->NumPending;
  }
  void acknowledge(natsMsg* m) const noexcept { by_.say(natsMsg_GetReply(m), "+ACK", haste::none); }
  void done_before(std::uint64_t position) noexcept override {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < held_.size();) {
      if (held_[i].last >= position) {
        ++i;
        continue;
      }
      acknowledge(held_[i].message.get());
      std::swap(held_[i], held_.back());
      held_.pop_back();
    }
  }

  const nats_connection& by_;
  const session_outcomes consumer_;
  const std::size_t most_held_;
  stored_items stored_;
  std::uint64_t awaited_ = 0;
  std::atomic<std::uint64_t> heard_{0};
  session_progress::clock::time_point waits_until_{};
  std::mutex mutex_;
  std::vector<held> held_;
};

}  // namespace levada::detail
