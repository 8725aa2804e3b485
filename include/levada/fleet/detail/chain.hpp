// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/chain.hpp: what a worker publishes of a partition: each message names the one before it, and the server
// takes it right behind that alone. Who takes a partition publishes a mark that names none; what its predecessor sends
// behind the mark is refused, so that nobody needs to know whether that is dead.
//
// (An expected sequence fences nobody where there are replicas: nats-server 2.9 compares it before it asks the others.)

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <levada/core/detail/log.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/publisher.hpp>
#include <levada/fleet/detail/short_text.hpp>

namespace levada::detail {

/// Under a lock of its owner's. Messages are in a ring until the server has them.
class chain_writer {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t most = 32;

  /// Behind the mark of `epoch`, whose number is the one before `first`. Answers come by `tags * number + tag`.
  chain_writer(stored_publisher& by, std::string_view worker, std::uint64_t epoch, std::uint64_t first,
               std::uint64_t tag, std::uint64_t tags)
      : by_(by), epoch_(epoch), tag_(tag), tags_(tags), first_(first), next_(first), ring_(most) {
    next().begin(worker);
  }
  /// Of the mark of an epoch, or a message behind it.
  static short_text id(std::uint64_t epoch, std::uint64_t number) {
    return short_text().add_hex(epoch).add(".").add(number);
  }

  short_text id(std::uint64_t number) const { return id(epoch_, number); }

  /// Messages that it takes beside those that the server has yet to acknowledge.
  std::size_t room() const { return most - static_cast<std::size_t>(next_ - first_); }
  bool is_empty() const { return next_ == first_; }
  /// Somebody else has a mark there, or the server does not know what came last.
  bool is_lost() const { return is_lost_; }
  std::uint64_t next_number() const { return next_; }

  /// Where the next message is put together; while there is room.
  fleet_writer& next() { return ring_[next_ % most].message; }
  void publish(const std::string& subject, const fleet_envelope& as) noexcept {
    entry& e = ring_[next_ % most];
    e.bytes = e.message.end(as);
    e.subject = &subject;
    ++next_;
    send(next_ - 1);
    if (again_at_ == never) again_at_ = clock::now() + answers_within;
  }

  /// True: the owner may look whether there is room now, or whether it is lost.
  bool answered(std::uint64_t number, const publish_answer& answer) noexcept {
    if (number < first_ || number >= next_ || is_lost_) return false;
    if (answer.is_stored) return stored_up_to(number);
    if (answer.is_of_another_chain()) {
      const std::string_view last = std::string_view(answer.why).substr(answer.why.rfind(' ') + 1);
      for (std::uint64_t n = first_ - 1; n != next_; ++n)
        if (last == id(n).view()) {
          const bool some = n >= first_ && stored_up_to(n);
          if (!is_empty()) send_again_soon();
          return some;
        }
      return is_lost_ = true;
    }
    if (!answer.is_full() && is_logged()) log(log_level::warning, "levada: outcomes are not stored: " + answer.why);
    send_again_soon();
    return false;
  }

  /// Sends again what has waited for too long for an answer, or was refused.
  void keep() noexcept {
    if (is_empty() || is_lost_ || clock::now() < again_at_) return;
    again_at_ = clock::now() + answers_within;
    for (std::uint64_t n = first_; n != next_; ++n) send(n);
  }

 private:
  static constexpr std::chrono::milliseconds answers_within{2000}, first_pause{5}, longest_pause{200};
  static constexpr clock::time_point never = clock::time_point::max();

  struct entry {
    fleet_writer message;
    std::span<const std::byte> bytes;
    const std::string* subject = nullptr;
  };

  void send(std::uint64_t number) noexcept {
    const entry& e = ring_[number % most];
    by_.publish(*e.subject, id(number), tags_ * number + tag_, e.bytes, next_ - first_ < 4 ? haste::some : haste::none,
                id(number - 1));
  }
  bool stored_up_to(std::uint64_t number) noexcept {
    first_ = number + 1;
    pause_ = first_pause;
    again_at_ = is_empty() ? never : clock::now() + answers_within;
    return true;
  }
  void send_again_soon() noexcept {
    again_at_ = std::min(again_at_, clock::now() + pause_);
    pause_ = std::min(longest_pause, 2 * pause_);
  }

  stored_publisher& by_;
  const std::uint64_t epoch_;
  const std::uint64_t tag_, tags_;
  std::uint64_t first_, next_;  ///< that the server has yet to acknowledge, and that comes then
  fixed_array<entry> ring_;
  clock::time_point again_at_ = never;
  std::chrono::milliseconds pause_ = first_pause;
  bool is_lost_ = false;
};

}  // namespace levada::detail
