// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/member.hpp: a worker process of a fleet, without the types of its items: the messages that it has in
// hand, from their fetching to the acknowledgement.
//
// A message is acknowledged when the server has stored what became of its items. One that comes a second time has lost
// a worker, by one of all that this had: its items run alone, each behind the driver's word that it may.

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
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/log.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/census.hpp>
#include <levada/fleet/detail/fetched_message.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/member_traits.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/publisher.hpp>
#include <levada/fleet/detail/puller.hpp>
#include <levada/fleet/detail/short_text.hpp>
#include <levada/fleet/detail/worker_threads.hpp>
#include <levada/remote/detail/wire.hpp>
#include <levada/run/detail/workers/completion.hpp>

namespace levada::detail {

/// The derived class has the session.
class fleet_member : public any_member, publish_events, nats_hearer {
 public:
  using clock = std::chrono::steady_clock;

  /// Throws remote_error where no server answers, or all drivers that are there are of another program.
  fleet_member(member_traits traits, const jetstream& to)
      : traits_(std::move(traits)),
        lease_(to.lease),
        names_(traits_.fleet, traits_.program),
        by_(words_of_fleet(traits_.fleet), to, traits_.worker),
        messages_(traits_.slots + extra_messages),
        items_(traits_.slots),
        window_(traits_.threads + messages_ahead) {
    if (const std::string why = ask_census(by_, names_.drivers, traits_.identity); !why.empty())
      throw remote_error(by_.who() + " has no driver of this program: " + why);
    queue_.reserve(messages_.size());
    for (fetched_message& o : messages_) free_.push_back(&o);
    for (item& i : items_) {
      i.member = this;
      free_items_.push_back(&i);
    }
  }

  member_counts counts() override {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 protected:
  /// An item in the session.
  struct item final : completion {
    fleet_member* member = nullptr;
    fetched_message* of = nullptr;
    std::uint64_t number = 0;

    void take(void* value, const std::exception_ptr& why) noexcept override { member->take(*this, value, why); }
    void done() noexcept override { member->done(*this); }
  };

  /// Gives an item to the session, where there is room. Throws wire_error where it is none.
  virtual bool push(completion& to, std::span<const std::byte> payload) = 0;

  /// From now on messages come; the session is there.
  void start() {
    answer_.emplace(by_, names_.workers, traits_.identity, false);
    publisher_ = std::make_unique<stored_publisher>(by_, static_cast<publish_events&>(*this));
    puller_.emplace(by_, names_.items_stream, names_.consumer, static_cast<nats_hearer&>(*this));
    keeper_ = start_thread("a worker of a fleet", [this]() noexcept { keep(); });
    alone_ = start_thread("items of a fleet that are run alone", [this]() noexcept { run_suspects(); });
    const std::lock_guard lock(mutex_);
    ask_for_more();
  }
  /// What is in the session is finished and what is not is given back, before the session ends.
  void stop() noexcept {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    for (std::vector<fetched_message*>* waiting : {&queue_, &suspects_})
      std::erase_if(*waiting, [this](fetched_message* o) {
        if (o->next != 0) return false;
        give_back(*o, "-NAK");
        return true;
      });
    changed_.notify_all();
    changed_.wait_for(lock, 2 * lease_, [this] { return free_.size() == messages_.size(); });
    is_over_ = true;
    changed_.notify_all();
    lock.unlock();
    if (keeper_.joinable()) keeper_.join();
    if (alone_.joinable()) alone_.join();
    puller_.reset();
  }

 private:
  static constexpr std::size_t extra_messages = 8, few = 8;  ///< that go one by one
  static constexpr std::chrono::milliseconds answers_within{2000}, first_pause{5}, longest_pause{200};

  using stage = fetched_message::stage;
  const char* reply_of(const fetched_message& o) const { return natsMsg_GetReply(o.raw.get()); }

  // ---- messages that come, on the thread of their subscription ----

  void heard(nats_message m) noexcept override {
    const char* const reply = natsMsg_GetReply(m.get());
    if (reply == nullptr) return;
    std::unique_lock lock(mutex_);
    if (is_ending_ || free_.empty()) return by_.say(reply, "-NAK");
    fetched_message& o = *free_.back();
    try {
      read(o, m.get(), reply);
    } catch (const std::exception& e) {
      ++counts_.refused;
      if (is_logged()) log(log_level::warning, by_.who() + ": a message is refused: " + e.what());
      by_.say(reply, "+TERM");
      return ask_for_more();
    }
    free_.pop_back();
    o.raw = std::move(m);
    o.at = stage::waiting;
    ++in_hand_;
    if (o.is_alone) {
      suspects_.push_back(&o);
      changed_.notify_all();
    } else {
      queue_.push_back(&o);
      let_in(lock);
    }
  }
  void read(fetched_message& o, natsMsg* m, std::string_view reply) {
    fleet_reader from(bytes_of(m));
    const fleet_envelope& e = from.envelope();
    if (e.kind != fleet_message::items) throw wire_error("levada: it is none of a driver");
    if (e.program != traits_.program) throw wire_error("levada: it is of another program");
    o.frames.clear();
    fleet_reader::frame f;
    while (from.next(f)) {
      if (f.header.kind != frame_kind::item) throw wire_error("levada: it is none of a driver");
      o.frames.push_back(f);
    }
    if (o.frames.empty() || o.frames.size() > fleet_grain(traits_.item_bytes, traits_.result.most_bytes))
      throw wire_error("levada: it has another number of items than a message may");
    o.session = e.session;
    o.publisher = e.number;
    o.delivery = delivery_of(reply);
    o.is_alone = o.delivery != 1;
    o.number = ++numbers_;
    o.next = o.done = 0;
    o.came = o.shown = clock::now();
    o.pause = first_pause;
    o.outcomes.begin(traits_.worker);
  }
  /// Under the lock: gives the session what it has room for, unless an item is to run alone.
  void let_in(std::unique_lock<std::mutex>& lock) noexcept {
    while (!queue_.empty() && suspects_.empty() && !runs_alone_) {
      fetched_message& o = *queue_.front();
      o.at = stage::running;
      while (o.next != o.frames.size())
        if (!let_in_next(o)) return;
      queue_.erase(queue_.begin());
      if (o.done == o.frames.size()) finish(o, lock);  // none was an item
    }
  }
  /// False: there is no room.
  bool let_in_next(fetched_message& o) noexcept {
    if (free_items_.empty()) return false;
    item& i = *free_items_.back();
    const fleet_reader::frame& f = o.frames[o.next];
    i.of = &o;
    i.number = f.header.item;
    try {
      if (!push(i, f.payload)) return false;
      free_items_.pop_back();
      ++running_;
    } catch (...) {
      add_failure(o, f.header.item, std::current_exception());
      ++o.done;
    }
    ++o.next;
    return true;
  }

  // ---- outcomes, on the session's thread ----

  void take(item& i, void* value, const std::exception_ptr& why) noexcept {
    fetched_message& o = *i.of;
    if (value == nullptr) {
      const std::lock_guard lock(mutex_);
      if (why == why_missing(missing::filtered))
        o.outcomes.add(frame_kind::filtered, i.number, {});
      else
        add_failure(o, i.number, why);
      return;
    }
    try {
      const std::span<const std::byte> bytes = traits_.result.bytes_of(value, written_);
      const std::lock_guard lock(mutex_);
      o.outcomes.add(frame_kind::value, i.number, bytes);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      add_failure(o, i.number, std::current_exception());
    }
  }
  void add_failure(fetched_message& o, std::uint64_t number, const std::exception_ptr& why) noexcept {
    std::string words = failure_text(why);
    words.resize(std::min(words.size(), most_failure_bytes(o.frames.size())));
    o.outcomes.add(frame_kind::failure, number, std::as_bytes(std::span(words)));
  }
  /// Of each, where all items of a message fail.
  std::size_t most_failure_bytes(std::size_t items) const {
    const std::size_t all = longest_fleet_message(traits_.item_bytes, traits_.result.most_bytes) - fleet_bytes_around;
    return std::min(all / items - frame_header::size, most_text_bytes);
  }

  void done(item& i) noexcept {
    std::unique_lock lock(mutex_);
    fetched_message& o = *i.of;
    free_items_.push_back(&i);
    --running_;
    ++counts_.items;
    if (++o.done == o.frames.size() || o.is_alone) finish(o, lock);
    let_in(lock);
    if (running_ == 0 && !suspects_.empty()) changed_.notify_all();
  }
  /// The outcomes of a message, or of an item that ran alone, are there. The lock is free meanwhile.
  void finish(fetched_message& o, std::unique_lock<std::mutex>& lock) noexcept {
    if (is_over_) return;  // what is given up is no outcome
    const auto now = clock::now();
    o.id = short_text().add_hex(o.publisher).add(".").add(o.frames[o.is_alone ? o.next - 1 : 0].header.item);
    if (!o.is_alone && o.frames.size() != 1) o.id.add("+").add(o.frames.size());
    names_.write_outcomes(o.session, o.to);
    const std::chrono::nanoseconds alone = now - std::max(o.came, std::exchange(last_finish_, now));
    o.message = o.outcomes.end(
        {fleet_message::outcomes, 0, 0, traits_.program, o.session, static_cast<std::uint64_t>(alone.count())});
    o.at = stage::publishing;
    ++publishing_;
    o.again_at = now + answers_within;
    if (!o.is_alone) {
      --in_hand_;
      adapt(alone);
    }
    publish(o, lock);
    ask_for_more();
  }
  void publish(fetched_message& o, std::unique_lock<std::mutex>& lock) noexcept {
    const std::uint64_t tag = o.number * messages_.size() + static_cast<std::size_t>(&o - messages_.begin());
    const haste is = publishing_ < few ? haste::some : haste::none;
    o.is_held = true;
    lock.unlock();
    publisher_->publish(o.to, o.id, tag, o.message, is);
    lock.lock();
    o.is_held = false;
    if (o.at == stage::stored) settle(o);
  }
  void answered(std::uint64_t tag, const publish_answer& answer) noexcept override {
    std::unique_lock lock(mutex_);
    fetched_message& o = messages_[static_cast<std::size_t>(tag % messages_.size())];
    if (o.at != stage::publishing || o.number != tag / messages_.size()) return;
    if (!answer.is_stored) {
      o.again_at = clock::now() + o.pause;
      o.pause = std::min(longest_pause, 2 * o.pause);
      if (!answer.is_full() && is_logged())
        log(log_level::warning, by_.who() + ": outcomes are not stored: " + answer.why);
      return changed_.notify_all();
    }
    o.at = stage::stored;
    --publishing_;
    if (!o.is_held) settle(o);
    ask_for_more();
  }
  /// The server has stored the outcomes, and nobody looks at them.
  void settle(fetched_message& o) noexcept {
    if (!o.is_alone) {
      ++counts_.messages;
      give_back(o, "+ACK");
    }
    if (o.is_alone || is_ending_) changed_.notify_all();
  }
  /// A message is the server's again, or done.
  void give_back(fetched_message& o, std::string_view how) noexcept {
    by_.say(reply_of(o), how, how == "+ACK" ? haste::none : haste::some);
    if (o.at == stage::waiting || o.is_alone) --in_hand_;
    o.raw.reset();
    o.at = stage::free;
    free_.push_back(&o);
  }

  // ---- how much is fetched ----

  /// For each thread what it runs, and so much ahead that short items do not wait for a message; no more: what a worker
  /// has in hand, no other runs.
  void adapt(std::chrono::nanoseconds took) noexcept {
    constexpr std::chrono::nanoseconds ahead = std::chrono::milliseconds(5);
    each_ = each_.count() == 0 ? took : (7 * each_ + took) / 8;
    const auto fitting = static_cast<std::size_t>(ahead / std::max(each_, std::chrono::nanoseconds(1)));
    window_ = std::min(traits_.threads + std::max(messages_ahead, fitting), traits_.slots);
  }
  void ask_for_more() noexcept {
    if (is_ending_ || !puller_) return;
    const std::size_t open = std::min(window_, free_.size() + in_hand_);
    puller_->set_room(open > in_hand_ ? open - in_hand_ : 0);
  }

  // ---- the keeper ----

  /// Says that messages in hand are worked on, and publishes outcomes again.
  void keep() noexcept {
    const auto between = std::min<std::chrono::nanoseconds>(lease_ / 6, std::chrono::milliseconds(100));
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      const auto now = clock::now();
      auto next = now + between;
      const bool has_reconnected = reconnections_.any_new(by_);
      for (fetched_message& o : messages_) {
        if (o.at == stage::free) continue;
        if (now - o.shown >= lease_ / 3) {
          o.shown = now;
          by_.say(reply_of(o), "+WPI");
        }
        if (o.at != stage::publishing) continue;
        if ((has_reconnected || now >= o.again_at) && !o.is_held) {
          o.again_at = now + answers_within;
          publish(o, lock);
        }
        if (o.at == stage::publishing) next = std::min(next, o.again_at);
      }
      puller_->keep();
      changed_.wait_until(lock, next);
    }
  }

  // ---- items that run alone, on a thread of its own ----

  void run_suspects() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_over_ || (!suspects_.empty() && running_ == 0); });
      if (is_over_) return;
      fetched_message& o = *suspects_.front();
      suspects_.erase(suspects_.begin());
      o.at = stage::running;
      runs_alone_ = true;
      run_alone(o, lock);
      runs_alone_ = false;
      let_in(lock);
      ask_for_more();
      changed_.notify_all();
    }
  }
  void run_alone(fetched_message& o, std::unique_lock<std::mutex>& lock) noexcept {
    while (o.next != o.frames.size()) {
      const std::string answer = ask(o, lock);
      if (is_over_) return;
      if (answer.empty()) return give_back(o, nobody_answers(o));
      if (answer != "yes") {
        ++o.next;
        continue;
      }
      ++counts_.run_alone;
      o.outcomes.begin(traits_.worker);
      o.came = clock::now();
      o.at = stage::running;
      const std::size_t done = o.done;
      while (!let_in_next(o)) changed_.wait_for(lock, std::chrono::milliseconds(1));  // its slot is not quite free
      if (o.done != done && o.at == stage::running) finish(o, lock);                  // it was no item
      changed_.wait(lock, [&] { return is_over_ || (o.at == stage::stored && !o.is_held); });
      if (is_over_) return;
    }
    ++counts_.messages;
    give_back(o, "+ACK");
  }
  /// The driver's word on the next item; empty where there is none. The lock is free meanwhile.
  std::string ask(fetched_message& o, std::unique_lock<std::mutex>& lock) noexcept {
    question_.begin(traits_.worker);
    question_.add(frame_kind::item, o.frames[o.next].header.item, std::as_bytes(std::span(&life_, 1)));
    const auto message = question_.end({fleet_message::question, 0, 0, traits_.program, o.session, o.delivery});
    const std::string subject = names_.questions(o.session);
    lock.unlock();
    natsMsg* m = nullptr;
    std::string answer;
    if (natsConnection_Request(&m, by_.get(), subject.c_str(), message.data(), static_cast<int>(message.size()),
                               answers_within.count()) == NATS_OK) {
      const nats_message kept(m);
      answer = std::string(text_of(m));
    }
    lock.lock();
    return answer;
  }
  /// Its driver has gone, or cannot be reached for a while: not for twenty times.
  static std::string_view nobody_answers(const fetched_message& o) {
    return o.delivery < 20 ? "-NAK {\"delay\": 1000000000}" : "+TERM";
  }

  const member_traits traits_;
  const std::chrono::nanoseconds lease_;
  const fleet_names names_;
  const nats_connection by_;
  const std::uint64_t life_ = new_number(by_.who());  ///< of this worker, and of no other with its name

  std::mutex mutex_;
  std::condition_variable changed_;
  fixed_array<fetched_message> messages_;
  fixed_array<item> items_;
  std::vector<fetched_message*> free_;
  std::vector<item*> free_items_;
  std::vector<fetched_message*> queue_;     ///< to be let in
  std::vector<fetched_message*> suspects_;  ///< to be run alone
  std::size_t running_ = 0;                 ///< items in the session
  std::size_t in_hand_ = 0;                 ///< messages without outcomes
  std::size_t publishing_ = 0;              ///< messages whose outcomes are on their way to be stored
  std::size_t window_;                      ///< how many messages may be in hand
  std::uint64_t numbers_ = 0;
  seen_reconnections reconnections_;
  clock::time_point last_finish_{};  ///< of a message
  std::chrono::nanoseconds each_{};  ///< that a message takes
  bool runs_alone_ = false, is_ending_ = false, is_over_ = false;
  member_counts counts_;

  std::vector<std::byte> written_;  ///< of the session's thread
  fleet_writer question_;           ///< of the thread of items that run alone
  std::optional<census_answer> answer_;
  std::unique_ptr<stored_publisher> publisher_;
  std::optional<puller> puller_;
  std::thread keeper_, alone_;
};

}  // namespace levada::detail
