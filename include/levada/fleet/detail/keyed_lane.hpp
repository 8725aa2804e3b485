// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_lane.hpp: a session's way to a segment whose stage has a state by key. Items go to the partition
// of their key, numbered there, several in a message; a message stays here until the server has it. Outcomes come by
// the stream of each partition.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
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
#include <levada/fleet/detail/kernel.hpp>
#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_parcels.hpp>
#include <levada/fleet/detail/keyed_session.hpp>
#include <levada/fleet/detail/keyed_streams.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/ordered_reader.hpp>
#include <levada/fleet/detail/outcome.hpp>
#include <levada/fleet/detail/passed_messages.hpp>
#include <levada/fleet/detail/publisher.hpp>
#include <levada/fleet/detail/server_silence.hpp>
#include <levada/fleet/detail/session_keeper.hpp>
#include <levada/fleet/detail/short_text.hpp>
#include <levada/fleet/detail/taken_state.hpp>

namespace levada::detail {

class keyed_lane final : public kept_lane, publish_events {
 public:
  using clock = std::chrono::steady_clock;

  /// `kept`: of a session with a name.
  keyed_lane(const nats_connection& by, const keyed_names& names, const fleet_kernel& kernel, std::uint64_t session,
             std::unique_ptr<session_keeper> kept, std::size_t segment, std::size_t slots, device_client& client)
      : by_(by),
        names_(names),
        kernel_(kernel),
        segment_(segment),
        client_(client),
        grain_(fleet_grain(kernel.item.most_bytes, kernel.result.most_bytes)),
        purged_each_(std::max<std::uint64_t>(1, inputs_a_state(kernel.item.most_bytes, kernel.result.most_bytes,
                                                               kernel.way->by_key->partitions, kernel.way->to) /
                                                    2)),
        slots_(slots),
        partitions_(kernel.way->by_key->partitions),
        kept_(std::move(kept)),
        session_(by, names, kernel, session, kept_.get()),
        publisher_(by, *this),
        readers_(by, partitions_.size()) {
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      partition& of = partitions_[p];
      of.inputs = names.inputs(p);
      of.results.emplace(*this, of, p);
    }
    thread_ = start_thread("the items of a fleet", [this]() noexcept { publish_all(); });
  }
  /// Nothing is in flight, and the keeper has forgotten it.
  ~keyed_lane() override {
    end_thread(thread_, mutex_, is_over_, changed_);
    for (partition& p : partitions_) p.results.reset();
  }

  void submit(std::uint64_t item) override {
    const void* const given = client_.input(segment_, item, 0);
    if (given == nullptr) return client_.complete(segment_, item);
    const std::uint64_t number = item + first();
    slot& s = slot_of(number);
    const std::span<const std::byte> payload = kernel_.item.bytes_of(given, s.written);
    const std::size_t to = kernel_.way->by_key->partition_of_item(given);
    {
      std::unique_lock lock(mutex_);
      ++in_flight_;
      s.item = number;
      s.of = nullptr;
      s.is_sent = true;
      next_ = number + 1;
      if (is_lost_) return finish(s, lost(), lock);
      add(partitions_[to], s, payload);
      if (const auto known = early_.take(number)) settle(s, {known->header, known->payload}, known->worker, lock);
    }
    changed_.notify_one();
  }

  // ---- the keeper's, which is one thread ----

  void keep() noexcept override {
    const bool is_ours = session_.keep();
    for (partition& p : partitions_)
      if (reads_again_)
        p.results->reader.begin_again();
      else
        p.results->reader.keep(true);
    reads_again_ = false;
    if (kept_) is_ours ? kept_->set_needed(first_in_no_state()) : kept_->lose();
    std::unique_lock lock(mutex_);
    is_lost_ = !is_ours || (kept_ && kept_->is_lost());
    heal();
    server_silence_.look(by_, unstored_ != 0);
    for (slot& s : slots_)
      if (s.is_sent && client_.input(segment_, s.item - first(), 0) == nullptr)
        finish(s, nullptr, lock);
      else if (s.is_sent && is_lost_)
        finish(s, lost(), lock);
    if (in_flight_ == 0 || kept_)
      for (partition& p : partitions_) purge(p, in_flight_ == 0 ? 1 : purged_each_);
  }

 private:
  using time_point = clock::time_point;
  static constexpr std::chrono::milliseconds answers_within{2000}, longest_pause{200}, first_silence{3000};
  /// Messages of a partition that are on their way: more items wait and share the next.
  static constexpr std::size_t few = 2;

  struct partition;
  using parcel = keyed_parcel<partition>;
  struct slot {
    std::uint64_t item = 0;
    std::vector<std::byte> written;  ///< of an item that has a wire form of its own
    parcel* of = nullptr;
    bool is_sent = false;
  };
  /// What came of the items of a partition.
  struct outcomes final : ordered_events {
    outcomes(keyed_lane& by, partition& is, std::size_t number)
        : lane(by),
          of(is),
          reader(by.readers_, number, by.names_.chain_stream(number), by.names_.all_of_chain(number),
                 by.session_.first_outcome(number), *this, ordered_reader::share::all,
                 by.session_.last_before(number)) {}
    void read(nats_message m, std::uint64_t sequence) noexcept override { lane.take(of, m.get(), sequence); }

    keyed_lane& lane;
    partition& of;
    ordered_reader reader;
  };
  struct partition {
    std::string inputs;
    std::uint64_t next = 1;     ///< number of its next item
    parcel* open = nullptr;     ///< that items are added to
    std::size_t unstored = 0;   ///< messages on their way
    passed_messages passed;     ///< by which nothing was purged yet
    std::uint64_t stored = 0;   ///< messages of either stream that may be purged
    std::vector<parcel*> kept;  ///< in their order
    std::optional<outcomes> results;
  };

  slot& slot_of(std::uint64_t item) { return slots_[static_cast<std::size_t>(item % slots_.size())]; }
  /// Items are known by the numbers that they have in messages.
  std::uint64_t first() const { return kept_ ? kept_->first() : 0; }
  /// A session with a name goes on there, or at the first whose outcome is not done.
  std::uint64_t first_in_no_state() {
    const std::uint64_t done = kept_->done();  // in this order: those before it have been added
    const std::lock_guard lock(mutex_);
    std::uint64_t item = std::min(done, std::max(next_, first()));
    for (const partition& p : partitions_)
      if (!p.kept.empty()) item = std::min(item, p.kept.front()->item);
    return item;
  }
  std::exception_ptr lost() const noexcept {
    if (kept_ && kept_->is_lost()) return kept_->loss();
    try {
      return std::make_exception_ptr(remote_error(by_.who() + ": another session has taken the partitions"));
    } catch (...) {
      return std::current_exception();
    }
  }

  /// Publishes again what is not in a state: where the server has come again, or says nothing for long.
  void heal() noexcept {
    const bool has_reconnected = reconnections_.any_new(by_);
    if (in_flight_ == 0) heard_at_ = clock::now();
    if (is_lost_ || (!has_reconnected && clock::now() - heard_at_ < silence_)) return;
    heard_at_ = clock::now();
    silence_ = std::min<std::chrono::milliseconds>(2 * silence_, std::chrono::minutes(5));
    // What was read of streams that end elsewhere now is not to be purged by.
    for (partition& p : partitions_) p.passed.clear();
    for (std::size_t p = 0; p < partitions_.size(); ++p) session_.publish_begin(p);
    publish_all_again();
    reads_again_ = true;
    changed_.notify_one();
  }

  // ---- publishing ----

  /// Under the lock: puts the item into a message of its partition.
  void add(partition& to, slot& s, std::span<const std::byte> payload) {
    if (to.open == nullptr) {
      parcel& p = parcels_.take(to, to.next, s.item);
      to.open = &p;
      to.kept.push_back(&p);
      p.message.reserve(longest_);
      p.message.begin();
      waiting_.push_back(&p);
    }
    parcel& p = *to.open;
    s.of = &p;
    p.message.add(frame_kind::item, s.item, payload);
    ++to.next;
    longest_ = std::max(longest_, p.message.size());
    if (p.message.frames() == grain_) to.open = nullptr;
  }
  /// Without an answer, or of a server that came again: as new messages, since the server may know the old ids and not
  /// have them.
  void publish_all_again() {
    for (const std::unique_ptr<parcel>& p : parcels_) {
      if (!p->is_used || !p->is_published) continue;
      ++p->rounds;
      p->again_at = clock::now();
      if (!std::exchange(p->is_stored, false)) continue;
      ++p->of->unstored;
      ++unstored_;
    }
  }
  /// What a state has passed is needed no more.
  void forget_up_to(partition& of, std::uint64_t next) {
    const auto first_needed = std::find_if(of.kept.begin(), of.kept.end(), [next](const parcel* p) {
      return !p->is_stored || p->is_held || p->first + p->message.frames() > next;
    });
    for (auto p = of.kept.begin(); p != first_needed; ++p) parcels_.give_back(**p);
    of.kept.erase(of.kept.begin(), first_needed);
  }
  parcel* next_waiting() {
    for (auto p = waiting_.begin(); p != waiting_.end(); ++p) {
      if ((*p)->of->unstored >= few && (*p)->of->open == *p) continue;
      parcel* const found = *p;
      waiting_.erase(p);
      if (found->of->open == found) found->of->open = nullptr;
      ++found->of->unstored;
      ++unstored_;
      return found;
    }
    return nullptr;
  }
  void publish_all() noexcept {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      parcel* next = unstored_ != 0 ? parcels_.due(clock::now()) : nullptr;
      if (next == nullptr) next = next_waiting();
      if (next != nullptr) {
        publish(*next, lock);
        continue;
      }
      const time_point due = unstored_ != 0 ? parcels_.next_due() : time_point::max();
      if (due == time_point::max())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, due);
    }
  }
  /// The lock is free meanwhile.
  void publish(parcel& p, std::unique_lock<std::mutex>& lock) noexcept {
    if (!p.is_published)
      p.bytes = p.message.end({fleet_message::items, 0, 0, kernel_.way->program, session_.number(), p.first});
    p.is_published = p.is_held = true;
    p.again_at = clock::now() + answers_within;
    const std::uint64_t tag = p.number << 20 | p.index;
    short_text id = short_text().add_hex(session_.number()).add(".").add(p.number);
    if (p.rounds != 0) id.add(".").add(p.rounds);
    const haste is = unstored_ < 2 * few ? haste::some : haste::none;
    const std::string& subject = p.of->inputs;
    lock.unlock();
    publisher_.publish(subject, id, tag, p.bytes, is);
    lock.lock();
    p.is_held = false;
  }
  void answered(std::uint64_t tag, const publish_answer& answer) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      server_silence_.end();
      parcel* const found = parcels_.find_unanswered(tag & 0xfffff, tag >> 20);
      if (found == nullptr) return;
      parcel& p = *found;
      if (answer.is_stored) {
        store(p);
        ++p.of->stored;
      } else {
        p.again_at = clock::now() + p.pause;
        p.pause = std::min(longest_pause, 2 * p.pause);
        if (answer.is_full())
          for (partition& each : partitions_) purge(each, 1);
        else if (is_logged())
          log(log_level::warning, by_.who() + ": items are not stored: " + answer.why);
      }
    }
    changed_.notify_one();
  }
  void store(parcel& p) {
    if (!p.is_unanswered()) return;
    p.is_stored = true;
    --p.of->unstored;
    --unstored_;
  }
  /// Removes what is done, where that is much: it takes the server milliseconds.
  void purge(partition& p, std::uint64_t at_least) noexcept {
    if (is_lost_ || p.stored < at_least) return;
    const auto has = p.passed.take(kept_ ? kept_->done_written() : std::numeric_limits<std::uint64_t>::max());
    if (!has) return;
    p.stored = p.passed.size();
    purge_passed(by_, names_, static_cast<std::size_t>(&p - partitions_.begin()), *has);
  }

  // ---- outcomes, on the thread of the readers ----

  void take(partition& of, natsMsg* m, std::uint64_t sequence) noexcept {
    try {
      fleet_reader from(bytes_of(m));
      const fleet_envelope& e = from.envelope();
      fleet_reader::frame f;
      if (e.program != kernel_.way->program) throw wire_error("levada: it is of another program");
      const bool is_state = e.kind == fleet_message::state, is_mine = e.session == session_.number();
      const bool is_ours = is_mine || (kept_ && source_of(e.session) == source_of(session_.number()));
      passed_message has{sequence};
      bool has_passed = false;
      const bool has_outcomes = is_state || e.kind == fleet_message::outcomes;
      while (has_outcomes && !has_passed && from.next(f)) {
        has_passed = is_state && f.header.kind == frame_kind::item;
        if (!has_passed && is_ours) take(f, from.name(), is_mine);
        if (is_ours || !kept_) has.item = std::max(has.item, has_passed ? item_of_state(f) : f.header.item + 1);
      }
      if (has_passed && (is_ours || !kept_)) has.inputs = f.header.item;
      const std::lock_guard lock(mutex_);
      ++of.stored;
      of.passed.add(has);
      if (!has_passed) return;
      if (is_mine) forget_up_to(of, e.number);
      purge(of, purged_each_);
    } catch (const std::exception& e) {
      if (is_logged()) log(log_level::warning, by_.who() + ": an outcome is refused: " + e.what());
    }
  }
  /// `is_mine`: it is of an item that this driver has published.
  void take(const fleet_reader::frame& f, std::string_view worker, bool is_mine) {
    slot& s = slot_of(f.header.item);
    std::unique_lock lock(mutex_);
    if (kept_ && f.header.item >= next_) return early_.add(f, worker, 0);
    if (!s.is_sent || s.item != f.header.item) return;
    if (is_mine && s.of != nullptr) store(*s.of);  // who says so has it
    heard_at_ = clock::now();
    silence_ = first_silence;
    settle(s, f, worker, lock);
    changed_.notify_one();
  }
  /// The first that comes of an item is what became of it.
  void settle(slot& s, const fleet_reader::frame& f, std::string_view worker, std::unique_lock<std::mutex>& lock) {
    s.is_sent = false;
    lock.unlock();
    std::exception_ptr failure = take_outcome(by_.who(), kernel_, client_, segment_, f, worker, first());
    lock.lock();
    finish(s, std::move(failure), lock);
  }
  /// The lock is free while the session hears of it.
  void finish(slot& s, std::exception_ptr failure, std::unique_lock<std::mutex>& lock) noexcept {
    const std::uint64_t item = s.item;
    s.is_sent = false;
    --in_flight_;
    lock.unlock();
    client_.report(segment_, item - first(), std::move(failure));
    lock.lock();
  }

  const nats_connection& by_;
  const keyed_names& names_;
  const fleet_kernel& kernel_;
  const std::size_t segment_;
  device_client& client_;
  const std::size_t grain_;          ///< items of a message at most
  const std::uint64_t purged_each_;  ///< messages

  std::mutex mutex_;
  std::condition_variable changed_;
  fixed_array<slot> slots_;
  fixed_array<partition> partitions_;
  keyed_parcels<partition> parcels_;
  std::vector<parcel*> waiting_;  ///< to be published
  std::size_t longest_ = 0;       ///< message so far
  std::size_t unstored_ = 0;      ///< messages that are on their way
  std::size_t in_flight_ = 0;     ///< items
  std::uint64_t next_ = 0;        ///< the item that comes next
  early_outcomes early_;          ///< of a session with a name
  bool is_lost_ = false, is_over_ = false, reads_again_ = false;
  seen_reconnections reconnections_;
  time_point heard_at_ = clock::now();  ///< of an outcome
  std::chrono::milliseconds silence_ = first_silence;
  server_silence server_silence_;

  const std::unique_ptr<session_keeper> kept_;  ///< null of a session without a name
  keyed_session session_;
  std::thread thread_;
  stored_publisher publisher_;
  ordered_readers readers_;
};

}  // namespace levada::detail
