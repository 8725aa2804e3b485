// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/lane.hpp: a session's way to its segment on another machine. Its items stay in the driver's slots until
// their results are there, and are sent again where their node is lost: each by itself, since one of them may be what
// the node died of. An item that has lost three nodes fails. The lane of a call serves the next call, with its
// connection.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/frame.hpp>
#include <levada/remote/detail/fresh_items.hpp>
#include <levada/remote/detail/greeting.hpp>
#include <levada/remote/detail/kept_lanes.hpp>
#include <levada/remote/detail/kernel.hpp>
#include <levada/remote/detail/lane_slot.hpp>
#include <levada/remote/detail/session_words.hpp>

namespace levada::detail {

class remote_lane final : public device_lane, public connection_events {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr int most_losses = 3;
  /// A lane that no call wants for so long ends.
  static constexpr std::chrono::seconds longest_idle{5};

  remote_lane(kept_lanes<remote_lane>& keeper, std::size_t segment, std::size_t slots, device_client& client,
              const remote_kernel& kernel)
      : keeper_(keeper),
        segment_(segment),
        client_(&client),
        is_of_call_(client.terms().is_one_item),
        kernel_(kernel),
        slots_(slots),
        fresh_(slots),
        words_(client.terms(), kernel.way->tells_captures) {}
  /// Nothing is in flight, and the keeper has forgotten it.
  ~remote_lane() override { connection_.reset(); }

  /// For another session, of one item, as it did for one before.
  void serve(device_client& client) {
    const std::lock_guard lock(mutex_);
    client_ = &client;
    is_alone_ = false;
  }
  /// It is connected, and nothing of a session before would be seen by the next.
  bool may_serve_again() {
    const std::lock_guard lock(mutex_);
    return is_of_call_ && !way().begins_anew && state_ == state::up && !is_cancelled_ && !words_.is_traced();
  }
  bool is_for(std::size_t segment, std::size_t slots) const { return segment_ == segment && slots_.size() == slots; }

  const remote_way& way() const { return *kernel_.way; }
  std::size_t most_bytes() const { return longest_message(kernel_.item.most_bytes, kernel_.result.most_bytes); }

  void submit(std::uint64_t item) override {
    const void* const given = client_->input(segment_, item, 0);
    if (given == nullptr) return client_->complete(segment_, item);
    slot& s = slot_of(item);
    const std::span<const std::byte> payload = kernel_.item.bytes_of(given, s.written);
    bool is_cancelled;
    {
      const std::lock_guard lock(mutex_);
      s.item = item;
      s.payload = payload;
      s.at = place::fresh;
      s.losses = 0;
      fresh_.add(item);
      is_cancelled = is_cancelled_;
    }
    if (is_cancelled) keeper_.look();
    send_some(item);
  }
  void cancel() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
    }
    keeper_.look();
  }

  void trace(const trace_context& of) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      words_.trace(of);
    }
    send_some();
  }

  // ---- the keeper's, which is one thread ----

  /// When something has to be done that nobody tells of; `never` while it has a connection.
  static constexpr time_point never = kept_lanes<remote_lane>::never;
  time_point due() {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) return is_closing_ || (state_ == state::down && !holds_items()) ? never : time_point::min();
    if (state_ == state::up) return never;
    if (is_greeting(state_)) return greeting_ends_;
    return holds_items() ? std::min(next_try_, patience_ends()) : next_try_;
  }
  void keep(time_point now) {
    state is;
    bool gives_up;
    {
      std::unique_lock lock(mutex_);
      if (is_cancelled_) return give_all_up(lock);
      is = state_;
      gives_up = now >= patience_ends();
    }
    if (is_greeting(is) && now >= greeting_ends_) {
      {
        const std::lock_guard lock(mutex_);
        greeting_ends_ = never;
      }
      end_connection("it does not answer");
    }
    if (is != state::down) return;
    if (gives_up) give_up_waiting(now);
    if (now >= next_try_) connect(now);
  }

  // ---- the transport's ----

  void received(wire_reader::pieces message) noexcept override {
    try {
      wire_reader from(message);
      const frame_header header = frame_header::read(from);
      switch (header.kind) {
        case frame_kind::welcome:
          return welcomed(static_cast<std::size_t>(header.item));
        case frame_kind::clock:
          return told_time(header.item);
        case frame_kind::refusal: {
          const std::string why = text_from_wire(from, most_text_bytes);
          return end_connection(why);
        }
        case frame_kind::value:
          return take_result(header.item,
                             [&] { kernel_.result.construct(from, client_->output(segment_, header.item, 0)); });
        case frame_kind::failure: {
          const std::string why = text_from_wire(from, most_text_bytes);
          return take_result(header.item, [&] { throw remote_error(why); });
        }
        case frame_kind::filtered:
          if (kernel_.make_filtered == nullptr) return end_connection("it gives nothing for an item");
          return take_result(header.item, [&] { kernel_.make_filtered(client_->output(segment_, header.item, 0)); });
        case frame_kind::overdue:
          if (words_.deadline().count() == 0) return end_connection("it drops an item that has no deadline");
          return take_result(header.item, [&] { client_->overdue(segment_, header.item); });
        default:
          return end_connection("it sends what only a driver does");
      }
    } catch (const std::exception& e) {
      end_connection(e.what());
    }
  }
  void released(std::uint64_t tag) noexcept override {
    if (tag == text_tag) return;
    std::unique_lock lock(mutex_);
    slot& s = slots_[static_cast<std::size_t>(tag)];
    if (--s.held == 0 && s.at == place::answered) report(s, lock);
  }
  void closed(const std::string& why) noexcept override {
    std::unique_lock lock(mutex_);
    if (why_.empty()) why_ = why;
    state_ = state::down;
    next_try_ = std::chrono::steady_clock::now() + delay();
    if (was_up_) down_since_ = std::chrono::steady_clock::now();
    was_up_ = is_closing_ = false;
    for (slot& s : slots_) {
      if (s.at != place::sent) continue;
      if (is_cancelled_) {
        settle_given_up(s);
      } else if (++s.losses < most_losses) {
        s.at = place::lost;
        ++lost_count_;
      } else {
        settle(s, error_of(s.item, "its node was lost " + std::to_string(most_losses) + " times: " + why_));
      }
    }
    flying_ = 0;
    report_settled(lock);
    lock.unlock();
    keeper_.look();
  }

 private:
  enum class state { down, greeting, asking_time, up };
  static bool is_greeting(state s) { return s == state::greeting || s == state::asking_time; }
  using slot = lane_slot;
  using place = lane_slot::place;

  /// Not before each address was tried.
  time_point patience_ends() const { return tries_ < way().addresses.size() ? never : down_since_ + way().patience; }
  slot& slot_of(std::uint64_t item) { return slots_[static_cast<std::size_t>(item % slots_.size())]; }
  bool holds_items() const { return !fresh_.empty() || lost_count_ != 0; }

  std::exception_ptr error_of(std::uint64_t item, const std::string& what) const noexcept {
    try {
      return std::make_exception_ptr(
          remote_error(words_of(way()) + ", node " + address_ + ", item " + std::to_string(item) + ": " + what));
    } catch (...) {
      return std::current_exception();
    }
  }

  // ---- sending ----

  /// The next item that may go, if any. One that has lost its node goes when nothing else is there, and alone.
  slot* next_to_send() {
    if (state_ != state::up || is_cancelled_) return nullptr;
    if (lost_count_ != 0) {
      if (flying_ != 0) return nullptr;
      slot* first = nullptr;
      for (slot& s : slots_)
        if (s.at == place::lost && (first == nullptr || s.item < first->item)) first = &s;
      --lost_count_;
      is_alone_ = true;
      return first;
    }
    if (fresh_.empty() || flying_ >= credits_ || (is_alone_ && flying_ != 0)) return nullptr;
    is_alone_ = false;
    return &slot_of(fresh_.take());
  }
  /// In order: one thread at a time sends, and does so for others. `newest`: who came just now.
  void send_some(std::uint64_t newest = ~std::uint64_t{0}) noexcept {
    std::unique_lock lock(mutex_);
    if (is_sending_) return;
    is_sending_ = true;
    for (;;) {
      if (state_ == state::up || state_ == state::asking_time) {
        if (const std::optional<session_words::word> word = words_.next()) {
          lock.unlock();
          connection_->send(word->text(), {}, text_tag);
          lock.lock();
          continue;
        }
      }
      slot* const s = next_to_send();
      if (s == nullptr) break;
      s->at = place::sent;
      ++s->held;
      ++flying_;
      const bool has_waited = s->losses != 0 || s->item != newest;
      item_head head(s->item, s->payload.size());
      if (words_.tells_captures()) words_.add_capture(head, client_->envelope(s->item).captured);
      const auto payload = s->payload;
      const std::uint64_t item = s->item;
      connection& to = *connection_;
      lock.unlock();
      // It may have been cancelled meanwhile, or be too late.
      const bool is_over = has_waited && client_->input(segment_, item, 0) == nullptr;
      if (!is_over) to.send(head.written(), payload, static_cast<std::uint64_t>(s - slots_.begin()));
      lock.lock();
      if (!is_over) continue;
      --s->held;
      if (s->at == place::lost) --lost_count_;  // the connection ended meanwhile
      if (s->at == place::sent) --flying_;
      settle(*s, nullptr);
      report_settled(lock);
    }
    is_sending_ = false;
    sent_.notify_one();
  }

  // ---- answers ----

  void welcomed(std::size_t credits) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (state_ != state::greeting) return;
      state_ = words_.reckons_time() ? state::asking_time : state::up;
      was_up_ = true;
      credits_ = std::max<std::size_t>(1, credits);
    }
    send_some();
  }
  void told_time(std::uint64_t there) {
    const auto now = std::chrono::steady_clock::now();
    {
      const std::lock_guard lock(mutex_);
      words_.answer_time(there, now);
      if (state_ == state::asking_time) state_ = state::up;
    }
    send_some();
  }
  template <class Construct>
  void take_result(std::uint64_t item, Construct construct) {
    slot& s = slot_of(item);
    {
      const std::lock_guard lock(mutex_);
      if (s.at != place::sent || s.item != item) throw wire_error("levada: a node answers for an item that it has not");
    }
    std::exception_ptr failure;
    try {
      construct();
    } catch (const std::exception& e) {
      failure = error_of(item, e.what());
    } catch (...) {
      failure = std::current_exception();
    }
    {
      std::unique_lock lock(mutex_);
      --flying_;
      tries_ = 0;
      settle(s, std::move(failure));
      if (s.held == 0) report(s, lock);
    }
    send_some();
  }
  /// What became of the item is known.
  void settle(slot& s, std::exception_ptr failure) {
    s.at = place::answered;
    s.failure = std::move(failure);
  }
  void settle_given_up(slot& s) {
    s.at = place::answered;
    s.is_given_up = true;
  }
  /// Tells the session of those whose payloads nobody looks at any more.
  void report_settled(std::unique_lock<std::mutex>& lock) noexcept {
    for (slot& s : slots_)
      if (s.at == place::answered && s.held == 0) report(s, lock);
  }
  /// The lock is free while the session hears of it.
  void report(slot& s, std::unique_lock<std::mutex>& lock) noexcept {
    const std::uint64_t item = s.item;
    std::exception_ptr failure = std::exchange(s.failure, nullptr);
    const bool is_given_up = std::exchange(s.is_given_up, false);
    s.at = place::nowhere;
    lock.unlock();
    if (is_given_up) client_->input(segment_, item, 0);  // which ends it
    client_->report(segment_, item, std::move(failure));
    lock.lock();
  }

  // ---- connections ----

  void end_connection(const std::string& why) noexcept {
    connection* of;
    {
      const std::lock_guard lock(mutex_);
      why_ = why;
      of = connection_.get();
    }
    if (of != nullptr) of->close();  // only the keeper takes another, and not while one tells us something
  }
  /// At once for each address, then later and later, and not all lanes together.
  std::chrono::nanoseconds delay() {
    const std::size_t rounds = tries_ / std::max<std::size_t>(1, way().addresses.size());
    if (rounds == 0) return {};
    const std::chrono::nanoseconds most = std::chrono::milliseconds(20) * (1 << std::min<std::size_t>(rounds, 8));
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return most / 2 + most / 2 * static_cast<std::int64_t>(random_ >> 40) / (1 << 24);
  }
  void connect(time_point now) {
    {
      std::unique_lock lock(mutex_);
      sent_.wait(lock, [this] { return !is_sending_; });
    }
    connection_.reset();
    const std::string& address = way().addresses[next_address_++ % way().addresses.size()];
    {
      const std::lock_guard lock(mutex_);
      state_ = state::greeting;
      greeting_ends_ = now + longest_greeting;
      words_.begin();
      address_ = address;
      why_.clear();
      ++tries_;
    }
    std::unique_ptr<connection> made;
    try {
      made = way().by->connect(address, most_bytes(), *this);
    } catch (const std::exception& e) {
      return closed(e.what());
    }
    connection* const to = made.get();
    {
      const std::lock_guard lock(mutex_);
      connection_ = std::move(made);
    }
    send_hello(*to, way(), words_.deadline());
  }
  void give_up_waiting(time_point now) noexcept {
    std::unique_lock lock(mutex_);
    down_since_ = now;
    end_waiting(lock, [&](slot& s) { settle(s, error_of(s.item, "no node was to be had: " + why_)); });
  }
  /// The session is cancelled: the node hears of it by the end of the connection.
  void give_all_up(std::unique_lock<std::mutex>& lock) noexcept {
    if (state_ == state::down) return end_waiting(lock, [&](slot& s) { settle_given_up(s); });
    if (std::exchange(is_closing_, true)) return;
    lock.unlock();
    end_connection("its session was cancelled");
  }
  template <class Settle>
  void end_waiting(std::unique_lock<std::mutex>& lock, const Settle& settle_one) noexcept {
    for (slot& s : slots_)
      if (s.at == place::fresh || s.at == place::lost) settle_one(s);
    fresh_.clear();
    lost_count_ = 0;
    report_settled(lock);
  }

  kept_lanes<remote_lane>& keeper_;
  const std::size_t segment_;
  device_client* client_;  ///< of the session that it serves
  const bool is_of_call_;
  const remote_kernel& kernel_;

  std::mutex mutex_;
  std::condition_variable sent_;
  fixed_array<slot> slots_;
  fresh_items fresh_;  ///< that have not been sent
  std::size_t lost_count_ = 0;
  std::size_t flying_ = 0;  ///< sent and not answered
  std::size_t credits_ = 0;
  bool is_alone_ = false;  ///< what is sent has lost its node before
  bool is_sending_ = false;
  session_words words_;

  state state_ = state::down;
  bool was_up_ = false;
  bool is_cancelled_ = false, is_closing_ = false;
  std::string why_, address_;
  time_point next_try_{}, greeting_ends_{}, down_since_ = std::chrono::steady_clock::now();
  std::size_t tries_ = 0, next_address_ = 0;
  std::uint64_t random_ = reinterpret_cast<std::uintptr_t>(this);
  std::unique_ptr<connection> connection_;
};

}  // namespace levada::detail
