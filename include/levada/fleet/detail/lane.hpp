// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/lane.hpp: a session's way to its segment on a fleet. Its items stay in the driver's slots until their
// outcomes are there. They are published several in a message; a message that no server acknowledges is published again
// under its id, one that a server has lost with another, and an outcome finds its item by its number, however often and
// in whatever order it comes.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <levada/core/detail/device_queue.hpp>
#include <levada/core/detail/log.hpp>
#include <levada/core/detail/start_thread.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/fleet/detail/early_outcomes.hpp>
#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/kept_session.hpp>
#include <levada/fleet/detail/kernel.hpp>
#include <levada/fleet/detail/learned_grain.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/outcome.hpp>
#include <levada/fleet/detail/parcel.hpp>
#include <levada/fleet/detail/publisher.hpp>
#include <levada/fleet/detail/puller.hpp>
#include <levada/fleet/detail/server_silence.hpp>
#include <levada/fleet/detail/session_consumers.hpp>
#include <levada/fleet/detail/short_text.hpp>
#include <levada/fleet/detail/streams.hpp>
#include <levada/fleet/detail/waiting_messages.hpp>
#include <levada/remote/detail/device.hpp>
#include <levada/remote/detail/fresh_items.hpp>

namespace levada::detail {

class fleet_lane final : public kept_lane, publish_events {
 public:
  using clock = std::chrono::steady_clock;
  /// Workers that an item may take with it before it fails.
  static constexpr int most_losses = 3;

  /// `kept`: of a session with a name.
  fleet_lane(const nats_connection& by, const fleet_names& names, const fleet_kernel& kernel,
             const session_outcomes& of, std::unique_ptr<kept_session> kept, std::size_t segment, std::size_t slots,
             device_client& client)
      : by_(by),
        names_(names),
        kernel_(kernel),
        of_(of),
        kept_(std::move(kept)),
        segment_(segment),
        client_(client),
        slots_(slots),
        fresh_(slots),
        early_(4 * slots),
        parcels_(slots),
        grain_(std::clamp<std::size_t>(slots / 4, 1, fleet_grain(kernel.item.most_bytes, kernel.result.most_bytes))),
        outcomes_{*this, by},
        questions_{*this, by},
        publisher_(by, *this),
        puller_(by, names.outcomes_stream, hex(of.consumer), outcomes_),
        asked_(by, names.questions(of.session), questions_),
        consumers_(by, names, kernel.way->to, of) {
    if (kept_) puller_.set_room(slots);
    thread_ = start_thread("the items of a fleet", [this]() noexcept { publish_all(); });
  }
  /// Nothing is in flight, and the keeper has forgotten it.
  ~fleet_lane() override {
    end_thread(thread_, mutex_, is_over_, changed_);
    if (!kept_) end_outcomes_consumer(by_, names_, of_.consumer);
  }

  void submit(std::uint64_t item) override {
    const void* const given = client_.input(segment_, item, 0);
    if (given == nullptr) return client_.complete(segment_, item);
    const std::uint64_t number = item + first();
    slot& s = slot_of(number);
    const std::span<const std::byte> payload = kernel_.item.bytes_of(given, s.written);
    {
      std::unique_lock lock(mutex_);
      s.item = number;
      s.payload = payload;
      s.at = place::waiting;
      s.losses = 0;
      s.life = 0;
      s.parcel = none;
      ++in_flight_;
      if (kept_) {
        next_ = number + 1;
        if (const auto known = early_.take(number))
          return settle(s, {known->header, known->payload}, known->worker, lock);
        if (kept_->is_lost()) return finish(s, kept_->loss(), lock);
        if (const auto stored = kept_->stored().take(number)) return adopt(s, *stored);
      }
      fresh_.add(number);
      if (!has_parcel_to_fill()) return;
    }
    changed_.notify_one();
  }

  // ---- the keeper's, which is one thread ----

  /// Every tenth of a second: outcomes are asked for again where the server lost who waits, and items of a
  /// session that was cancelled are done.
  void keep() noexcept override {
    std::unique_lock lock(mutex_);
    const bool is_lost = kept_ && kept_->is_lost();
    const auto is_unwanted = [&](const slot& s) {
      return is_lost || client_.input(segment_, s.item - first(), 0) == nullptr;
    };
    const auto why = [&] { return is_lost ? kept_->loss() : nullptr; };
    for (slot& s : slots_)
      if (s.at == place::sent && !s.is_done && is_unwanted(s)) finish(s, why(), lock);
    for (std::size_t left = fresh_.size(); left != 0 && !fresh_.empty(); --left) {
      slot& s = slot_of(fresh_.take());
      if (is_unwanted(s))
        finish(s, why(), lock);
      else
        fresh_.add(s.item);
    }
    const bool is_waiting = in_flight_ != 0;
    lock.unlock();
    if (is_lost || (!is_waiting && !kept_)) return;
    if (kept_) changed_.notify_one();  // it waits no longer for outcomes of before
    puller_.set_room(slots_.size());
    const bool is_unknown = puller_.keep();
    // A driver that takes the session ends the consumer of the one before.
    const bool has_dropped = consumers_.keep(is_unknown && (!kept_ || kept_->is_confirmed()));
    lock.lock();
    silence_.look(by_, parcels_.unstored() != 0);
    if (has_dropped || lacks_outcomes_) publish_all_again();
    if (reconnections_.any_new(by_)) hurry();
    look_for_lost(lock);
  }

 private:
  using time_point = clock::time_point;
  static constexpr std::chrono::milliseconds answers_within{2000}, longest_pause{200},
      first_patience = fleet_parcel::first_patience, longest_patience{30'000};
  static constexpr std::size_t few = 8;  ///< messages that are on their way one by one
  static constexpr std::uint32_t none = fleet_slot::no_parcel;

  using place = fleet_slot::place;
  using slot = fleet_slot;
  using parcel = fleet_parcel;

  /// Items are known by the numbers that they have in messages.
  std::uint64_t first() const { return kept_ ? kept_->first() : 0; }
  slot& slot_of(std::uint64_t item) { return slots_[static_cast<std::size_t>(item % slots_.size())]; }

  void publish_all_again() noexcept {
    lacks_outcomes_ = false;
    for (slot& s : slots_) {
      if (s.is_held) lacks_outcomes_ = true;  // in a moment
      if (!s.is_held && s.at == place::sent) renew(s);
    }
    changed_.notify_one();
  }
  /// It is to be published in another message.
  void renew(slot& s) {
    leave_parcel(s);
    s.at = place::waiting;
    fresh_.add(s.item);
  }
  /// A server has come again. What was on its way there is lost, and it may lack the last that it had.
  void hurry() noexcept {
    consumers_.doubt();
    const auto now = clock::now();
    for (parcel& p : parcels_) {
      if (!p.is_used || !p.is_published) continue;
      p.again_at = std::min(p.again_at, now);
      p.look_at = std::min(p.look_at, now + first_patience / 2);
    }
    changed_.notify_one();
  }
  /// A message that was stored and is neither in the stream nor answered is lost, or its outcomes are: a server that
  /// was killed lacks the last that it had. The lock is free meanwhile.
  void look_for_lost(std::unique_lock<std::mutex>& lock) noexcept {
    constexpr int most_looks = 16;
    std::optional<waiting_messages> waiting;
    int looks = 0;
    for (parcel& p : parcels_) {
      if (looks == most_looks) return;
      if (!p.is_used || !p.is_stored || clock::now() < p.look_at) continue;
      ++looks;
      const std::uint64_t number = p.number, sequence = p.sequence;
      const short_text id = p.id;
      lock.unlock();
      if (!waiting) waiting.emplace(by_, names_.items_stream, names_.consumer);
      const whereabouts is = waiting->find(sequence, id.view());
      lock.lock();
      if (!p.is_used || p.number != number) continue;
      p.look_at = clock::now() + p.patience;
      p.patience = std::min(longest_patience, 2 * p.patience);
      if (is == whereabouts::unknown) return;  // the others in a moment
      if (is == whereabouts::nowhere) {
        consumers_.doubt();
        renew_items(p);
      }
    }
  }
  void renew_items(parcel& p) {
    const std::size_t of = parcels_.index_of(p);
    for (const std::size_t i : p.slots)
      if (slots_[i].parcel == of && slots_[i].at == place::sent && !slots_[i].is_held) renew(slots_[i]);
    changed_.notify_one();
  }
  /// It is in a message of the driver before.
  void adopt(slot& s, const stored_items::place& stored) {
    parcel& p = parcels_.stored_at(stored.sequence, stored.id);
    s.parcel = static_cast<std::uint32_t>(parcels_.index_of(p));
    s.at = place::sent;
    p.slots.push_back(static_cast<std::size_t>(&s - slots_.begin()));
    ++p.left;
  }
  void leave_parcel(slot& s) {
    if (s.parcel != none && --parcels_[s.parcel].left == 0) parcels_.leave(parcels_[s.parcel]);
    s.parcel = none;
  }

  // ---- publishing, on its own thread ----

  /// More items are waited for while the server has yet to store two messages: they share the next.
  bool has_parcel_to_fill() const {
    if (kept_ && !kept_->has_heard_all()) return false;
    return !fresh_.empty() && parcels_.has_free() && (fresh_.size() >= grain_.now() || parcels_.unstored() < 2);
  }
  void publish_all() noexcept {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      time_point due = time_point::max();
      parcel* next = parcels_.unstored() != 0 ? parcels_.due(clock::now(), due) : nullptr;
      if (next == nullptr && has_parcel_to_fill()) next = &fill_parcel();
      if (next != nullptr)
        publish(*next, lock);
      else if (due != time_point::max())
        changed_.wait_until(lock, due);
      else
        changed_.wait(lock);
    }
  }
  parcel& fill_parcel() {
    parcel& p = parcels_.take();
    p.id = short_text().add_hex(of_.consumer).add(".").add(p.number);
    while (!fresh_.empty() && p.slots.size() < grain_.now()) {
      slot& s = slot_of(fresh_.take());
      s.parcel = static_cast<std::uint32_t>(parcels_.index_of(p));
      s.at = place::sent;
      p.slots.push_back(static_cast<std::size_t>(&s - slots_.begin()));
    }
    p.left = p.slots.size();
    return p;
  }
  void publish(parcel& p, std::unique_lock<std::mutex>& lock) noexcept {
    const std::uint64_t tag = parcels_.tag_of(p);
    const short_text id = p.id;
    const std::size_t index = parcels_.index_of(p);
    writer_.begin();
    held_.clear();
    for (const std::size_t i : p.slots) {
      slot& s = slots_[i];
      if (s.at != place::sent || s.parcel != index) continue;
      s.is_held = true;
      held_.push_back(i);
    }
    const haste is = parcels_.unstored() < few ? haste::some : haste::none;
    p.is_published = true;
    p.again_at = clock::now() + answers_within;
    lock.unlock();
    for (const std::size_t i : held_) writer_.add(frame_kind::item, slots_[i].item, slots_[i].payload);
    const auto message = writer_.end({fleet_message::items, 0, 0, kernel_.way->program, of_.session, of_.consumer});
    publisher_.publish(names_.items, id, tag, message, is);
    puller_.set_room(slots_.size());
    lock.lock();
    for (const std::size_t i : held_) {
      slots_[i].is_held = false;
      if (std::exchange(slots_[i].is_done, false)) report(slots_[i], lock);
    }
  }
  void answered(std::uint64_t tag, const publish_answer& answer) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      silence_.end();
      parcel* const p = parcels_.of_tag(tag);
      if (p == nullptr || p->is_stored) return;
      if (answer.is_stored) {
        parcels_.set_stored(*p, answer.sequence);
        if (!has_parcel_to_fill()) return;
      } else {
        p->again_at = clock::now() + p->pause;
        p->pause = std::min(longest_pause, 2 * p->pause);
        if (!answer.is_full() && is_logged())
          log(log_level::warning, by_.who() + ": items are not stored: " + answer.why);
      }
    }
    changed_.notify_one();
  }

  // ---- outcomes, on the thread of their subscription ----

  void take_outcomes(nats_message& m) {
    bool has_result = false;
    std::uint64_t last = 0;
    try {
      fleet_reader from(bytes_of(m.get()));
      const fleet_envelope& e = from.envelope();
      if (e.kind != fleet_message::outcomes || e.program != kernel_.way->program || e.session != of_.session)
        throw wire_error("levada: it is of another program");
      fleet_reader::frame f;
      while (from.next(f)) {
        take_outcome(f, from.name());
        has_result = has_result || f.header.kind != frame_kind::filtered;
        last = std::max(last, f.header.item);
      }
      if (e.frames != 0) {
        const std::lock_guard lock(mutex_);
        grain_.learn(e.number / e.frames);
      }
    } catch (const std::exception& e) {
      if (is_logged()) log(log_level::warning, by_.who() + ": an outcome is refused: " + e.what());
    }
    if (kept_ && kept_->hear_one()) changed_.notify_one();
    if (kept_ && has_result)
      kept_->hold(std::move(m), last);
    else if (const char* const to = natsMsg_GetReply(m.get()))
      by_.say(to, "+ACK", haste::none);
    puller_.set_room(slots_.size());
  }
  void take_outcome(const fleet_reader::frame& f, std::string_view worker) {
    slot& s = slot_of(f.header.item);
    std::unique_lock lock(mutex_);
    if (kept_ && f.header.item >= next_) return early_.add(f, worker, first());
    if (s.item != f.header.item || s.at == place::nowhere || s.is_done) return;  // it is there already, or will be
    if (s.at == place::waiting) fresh_.remove(s.item);
    settle(s, f, worker, lock);
  }
  void settle(slot& s, const fleet_reader::frame& f, std::string_view worker, std::unique_lock<std::mutex>& lock) {
    s.at = place::nowhere;
    lock.unlock();
    std::exception_ptr failure = detail::take_outcome(by_.who(), kernel_, client_, segment_, f, worker, first());
    lock.lock();
    s.at = place::sent;
    finish(s, std::move(failure), lock);
  }
  /// What became of an item that was sent is known.
  void finish(slot& s, std::exception_ptr failure, std::unique_lock<std::mutex>& lock) noexcept {
    s.failure = std::move(failure);
    if (s.is_held)
      s.is_done = true;
    else
      report(s, lock);
  }
  /// The lock is free while the session hears of it.
  void report(slot& s, std::unique_lock<std::mutex>& lock) noexcept {
    const std::uint64_t item = s.item;
    std::exception_ptr failure = std::exchange(s.failure, nullptr);
    s.at = place::nowhere;
    leave_parcel(s);
    --in_flight_;
    lock.unlock();
    client_.report(segment_, item - first(), std::move(failure));
    lock.lock();
  }

  // ---- questions of workers, on the thread of their subscription ----

  /// An item that has lost its worker runs alone, and where it is known to: so that it is known which of a worker's
  /// items it is that workers die of.
  void take_question(nats_message& m) {
    fleet_reader from(bytes_of(m.get()));
    const fleet_envelope& e = from.envelope();
    fleet_reader::frame f;
    if (e.kind != fleet_message::question || e.program != kernel_.way->program || e.session != of_.session ||
        !from.next(f))
      throw wire_error("levada: it is of another program");
    const char* const reply = natsMsg_GetReply(m.get());
    if (reply == nullptr || (kept_ && kept_->is_lost())) return;
    std::uint64_t life = 0;
    if (f.payload.size() == sizeof life) std::memcpy(&life, f.payload.data(), sizeof life);
    by_.say(reply, may_run_again(f.header.item, life, from.name()) ? "yes" : "no");
  }
  /// Who asks again is alive: the answer did not come in time, or the server heard too late that it is at work.
  bool may_run_again(std::uint64_t item, std::uint64_t life, std::string_view worker) {
    slot& s = slot_of(item);
    std::unique_lock lock(mutex_);
    if (kept_ && item >= next_) return !early_.has(item);  // it is about to come
    if (s.at != place::sent || s.item != item || s.is_done) return false;
    if (life == s.life) return true;
    s.life = life;
    if (++s.losses < most_losses) return true;
    finish(s, error_of_item(by_.who(), item, worker, "its worker was lost " + std::to_string(most_losses) + " times"),
           lock);
    return false;
  }

  const nats_connection& by_;
  const fleet_names& names_;
  const fleet_kernel& kernel_;
  const session_outcomes of_;
  const std::unique_ptr<kept_session> kept_;  ///< null of a session without a name
  const std::size_t segment_;
  device_client& client_;

  std::mutex mutex_;
  std::condition_variable changed_;
  fixed_array<slot> slots_;
  fresh_items fresh_;
  early_outcomes early_;
  std::uint64_t next_ = 0;  ///< of a session with a name: the item that comes next
  fleet_parcels parcels_;
  std::size_t in_flight_ = 0;  ///< items
  learned_grain grain_;        ///< of a message
  seen_reconnections reconnections_;
  server_silence silence_;
  bool lacks_outcomes_ = false;  ///< some were dropped
  bool is_over_ = false;

  fleet_writer writer_;  ///< these two are of the publishing thread
  std::vector<std::size_t> held_;
  std::thread thread_;

  nats_member_hearer<&fleet_lane::take_outcomes> outcomes_;
  nats_member_hearer<&fleet_lane::take_question> questions_;
  stored_publisher publisher_;
  puller puller_;
  nats_subscription asked_;
  session_consumers consumers_;  ///< of the keeper
};

}  // namespace levada::detail
