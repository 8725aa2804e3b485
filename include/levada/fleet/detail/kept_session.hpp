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
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <levada/core/detail/start_thread.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/jetstream.hpp>
#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/session_progress.hpp>
#include <levada/fleet/detail/session_record.hpp>
#include <levada/fleet/detail/stored_items.hpp>
#include <levada/fleet/detail/streams.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

/// Outcomes whose items are not there yet. Of one lock.
class early_outcomes {
 public:
  struct outcome {
    frame_header header{};
    std::vector<std::byte> payload;
    std::string worker;
  };

  explicit early_outcomes(std::size_t most) : most_(most) {}

  /// Those before `first` are wanted by nobody.
  void add(const fleet_reader::frame& f, std::string_view worker, std::uint64_t first) {
    if (by_number_.size() == most_) std::erase_if(by_number_, [first](const auto& o) { return o.first < first; });
    if (by_number_.size() < most_)  // else it comes again
      by_number_.try_emplace(f.header.item,
                             outcome{f.header, {f.payload.begin(), f.payload.end()}, std::string(worker)});
  }
  bool has(std::uint64_t number) const { return by_number_.contains(number); }
  std::optional<outcome> take(std::uint64_t number) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end()) return std::nullopt;
    std::optional<outcome> taken(std::move(found->second));
    by_number_.erase(found);
    return taken;
  }

 private:
  const std::size_t most_;
  std::unordered_map<std::uint64_t, outcome> by_number_;
};

class kept_session {
 public:
  /// Takes the session: a driver that has it finds it lost. Throws remote_error where the servers do not let it.
  kept_session(const nats_connection& by, const fleet_names& names, const jetstream& to, std::uint64_t program,
               std::shared_ptr<session_progress> progress, std::size_t slots)
      : by_(by),
        record_(by, names, to, progress->name()),
        progress_(std::move(progress)),
        consumer_{number_of_session(progress_->name()), record_.owner(), named_driver_may_be_gone},
        most_held_(4 * slots) {
    held_.reserve(most_held_);
    record_.take();
    written_ = record_.position();
    // What is stored comes to the new consumer, too, as long as an older one is there.
    keep_outcomes_consumer(by, names, consumer_, at_leisure);
    if (!record_.consumers().empty()) {
      // In this order: an item that is stored no more has an outcome that is.
      stored_.read(by, names, consumer_.session, program);
      awaited_ = stored_outcomes(names);
      waits_until_ = session_progress::clock::now() + std::chrono::seconds(2);
    }
    for (const std::uint64_t before : record_.consumers()) end_outcomes_consumer(by, names, before);
    record_.forget_consumers();
    progress_->join(written_);
    thread_ = start_thread("a session with a name", [this]() noexcept { keep_record(); });
  }
  ~kept_session() {
    progress_->wake([this] { is_over_ = true; });
    thread_.join();
  }
  kept_session(const kept_session&) = delete;
  kept_session& operator=(const kept_session&) = delete;

  const session_outcomes& consumer() const { return consumer_; }
  /// The number of the first item.
  std::uint64_t first() const { return progress_->first(); }
  bool is_lost() const { return progress_->is_lost(); }
  std::exception_ptr loss() const noexcept {
    try {
      progress_->check();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  /// For who finds that the servers do not know its consumer: whether they have said since it was asked last that the
  /// session is this driver's. Else they are asked.
  bool is_confirmed() {
    bool is = false;
    progress_->wake([&] { is = std::exchange(is_confirmed_, false), is_doubted_ = !is; });
    return is;
  }

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
  /// Between two writings: what was popped since the last comes again where the driver dies.
  static constexpr std::chrono::milliseconds between{5}, patience{100};
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
  void acknowledge_before(std::uint64_t position) noexcept {
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
  void keep_record() noexcept {
    for (;;) {
      const auto ends = [this] { return is_over_; };
      const std::uint64_t done = progress_->wait_for_more(written_, [this] { return is_over_ || is_doubted_; });
      bool over = false;
      progress_->wake([&] { over = is_over_; });
      if (over && done <= written_) return;
      const session_record::writing is = done > written_ ? record_.write(done) : record_.look();
      if (is == session_record::writing::lost) return progress_->lose(words_of_loss());
      progress_->wake([&] {
        if (is == session_record::writing::done) is_confirmed_ = std::exchange(is_doubted_, false);
      });
      if (is == session_record::writing::done && done > written_) {
        written_ = done;
        acknowledge_before(done);
      }
      if (over) return;
      progress_->wait_for(is == session_record::writing::done ? between : patience, ends);
    }
  }
  std::string words_of_loss() const {
    return by_.who() + ": another driver has taken the session `" + progress_->name() + "`";
  }

  const nats_connection& by_;
  session_record record_;
  const std::shared_ptr<session_progress> progress_;
  const session_outcomes consumer_;
  const std::size_t most_held_;
  stored_items stored_;
  std::uint64_t awaited_ = 0;
  std::atomic<std::uint64_t> heard_{0};
  session_progress::clock::time_point waits_until_{};
  std::mutex mutex_;
  std::vector<held> held_;
  std::uint64_t written_ = 0;                                         ///< of the thread
  bool is_over_ = false, is_doubted_ = false, is_confirmed_ = false;  ///< by the lock of the progress
  std::thread thread_;
};

}  // namespace levada::detail
