// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/ordered_reader.hpp: the messages of a subject in the order of its stream, from one on. The server pushes
// them by a consumer that keeps nothing; where one is missing, or it is silent, another consumer begins behind the
// last.
// (libnats has such ones, too, which notice that they are lost after ten seconds.)

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/nats.hpp>

namespace levada::detail {

/// Who is given the messages, on a thread of the connection, each once.
class ordered_events {
 public:
  virtual void read(nats_message m, std::uint64_t sequence) noexcept = 0;

 protected:
  ~ordered_events() = default;
};

class ordered_reader;

/// The subjects at which so many readers are sent messages, known before any is. (nats-server 2.9 finds who hears a
/// consumer by the very subject: a subscription to many by a wildcard is nobody to it.)
class ordered_readers {
 public:
  ordered_readers(const nats_connection& by, std::size_t most) : by_(by), inbox_(new_inbox(by.who())), places_(most) {
    for (std::size_t i = 0; i < most; ++i) places_[i].messages.emplace(by, subject(i), places_[i]);
  }

 private:
  friend ordered_reader;
  struct place final : nats_hearer {
    void heard(nats_message m) noexcept override;

    std::mutex mutex;
    ordered_reader* of = nullptr;
    std::optional<nats_subscription> messages;  ///< behind all that it looks at
  };
  std::string subject(std::size_t of) const { return inbox_ + "." + std::to_string(of); }

  const nats_connection& by_;
  const std::string inbox_;
  fixed_array<place> places_;
};

class ordered_reader {
 public:
  using clock = std::chrono::steady_clock;

  /// What the subject has of its stream.
  enum class share : std::uint8_t { some, all };

  /// `place`: among those that share the subscription. All of a stream has numbers without a gap but where something
  /// was purged; up to `settled` that is known to be so.
  ordered_reader(ordered_readers& by, std::size_t place, std::string stream, std::string subject, std::uint64_t first,
                 ordered_events& to, share of = share::some, std::uint64_t settled = 0)
      : by_(by.by_),
        at_(by.places_[place]),
        to_(to),
        share_(of),
        settled_(settled),
        stream_(std::move(stream)),
        subject_(std::move(subject)),
        inbox_(by.subject(place)),
        name_("r" + hex(new_number(by.by_.who())) + "-"),
        next_(std::max<std::uint64_t>(1, first)) {
    const std::lock_guard lock(at_.mutex);
    at_.of = this;
    begin();
  }
  ~ordered_reader() {
    const std::lock_guard lock(at_.mutex);
    if (at_.of == this) at_.of = nullptr;  // else the next is there already
    end();
  }
  ordered_reader(const ordered_reader&) = delete;
  ordered_reader& operator=(const ordered_reader&) = delete;

  /// Looks after a consumer that is lost; every tenth of a second or so. `all`: it begins anew then, with all that is
  /// stored, for an owner who knows what came already: of a server that was killed the stream may end before.
  void keep(bool all = false) noexcept {
    const std::lock_guard lock(at_.mutex);
    if (clock::now() - heard_at_ <= (is_known_ ? 3 * heartbeat : std::chrono::milliseconds(1000))) return;
    if (all) read_again();
    begin();
  }
  /// Begins anew with all that is stored.
  void begin_again() noexcept {
    const std::lock_guard lock(at_.mutex);
    read_again();
    begin();
  }

 private:
  friend ordered_readers;
  static constexpr std::chrono::milliseconds heartbeat{500};

  void begin() noexcept {
    end();
    consumer_ = name_ + std::to_string(++consumers_);
    came_ = 0;
    is_known_ = false;
    heard_at_ = clock::now();
    const std::string text =
        "{\"stream_name\":\"" + stream_ + "\",\"config\":{\"name\":\"" + consumer_ + "\",\"deliver_subject\":\"" +
        inbox_ + "\",\"deliver_policy\":\"by_start_sequence\",\"opt_start_seq\":" + std::to_string(next_) +
        ",\"ack_policy\":\"none\",\"max_deliver\":1,\"replay_policy\":\"instant\"," + "\"filter_subject\":\"" +
        subject_ +
        "\",\"flow_control\":true,\"idle_heartbeat\":" + std::to_string(std::chrono::nanoseconds(heartbeat).count()) +
        ",\"mem_storage\":true,\"num_replicas\":1}}";
    by_.say(("$JS.API.CONSUMER.CREATE." + stream_ + "." + consumer_).c_str(), (inbox_ + ".made").c_str(),
            std::as_bytes(std::span(text)));
  }
  void read_again() noexcept { settled_ = std::max(settled_, std::exchange(next_, 1) - 1); }
  void end() noexcept {
    if (consumers_ != 0) by_.say(("$JS.API.CONSUMER.DELETE." + stream_ + "." + consumer_).c_str(), {});
  }
  /// Under the lock of its place.
  void heard(nats_message m) noexcept {
    const char* const reply = natsMsg_GetReply(m.get());
    const delivery_numbers numbers =
        delivery_numbers_of(reply == nullptr ? std::string_view() : std::string_view(reply));
    if (!numbers.consumer.empty() && numbers.consumer != consumer_) return;  // of one before
    is_known_ = true;
    heard_at_ = clock::now();
    if (header_of(m.get(), "Status") == "100") {
      if (reply != nullptr) by_.say(reply, {});  // it may send more
      std::uint64_t sent = came_;
      const std::string_view count = header_of(m.get(), "Nats-Last-Consumer");
      std::from_chars(count.data(), count.data() + count.size(), sent);
      if (sent != came_) begin();
      return;
    }
    if (numbers.of_consumer != came_ + 1) return begin();
    // While something is purged nats-server 2.9 lets a consumer pass what has come just now: another one has it.
    const bool may_lack = share_ == share::all && numbers.of_stream > std::max(next_, settled_);
    if (may_lack && std::exchange(doubted_, next_) != next_) return begin();
    came_ = numbers.of_consumer;
    next_ = numbers.of_stream + 1;
    to_.read(std::move(m), numbers.of_stream);
  }

  const nats_connection& by_;
  ordered_readers::place& at_;
  ordered_events& to_;
  const share share_;
  std::uint64_t settled_;
  const std::string stream_, subject_, inbox_, name_;
  std::uint64_t next_;           ///< in the stream
  std::uint64_t doubted_ = 0;    ///< a number that was not there, and asked for once more
  std::uint64_t consumers_ = 0;  ///< that were made
  std::string consumer_;         ///< the last of them
  std::uint64_t came_ = 0;       ///< messages of this one
  bool is_known_ = false;        ///< it has said something
  clock::time_point heard_at_{};
};

inline void ordered_readers::place::heard(nats_message m) noexcept {
  const std::lock_guard lock(mutex);
  if (of != nullptr) of->heard(std::move(m));
}

}  // namespace levada::detail
