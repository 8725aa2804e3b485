// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_partition.hpp: a partition at the worker that has it. Behind its last state it runs again what its
// predecessor ran, publishes nothing of that, and goes on where the last outcome is.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include <levada/core/detail/log.hpp>
#include <levada/fleet/detail/chain.hpp>
#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/ordered_reader.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

class keyed_partition;

/// The worker that has partitions.
class keyed_host {
 public:
  /// There is work for it, or it is lost.
  virtual void schedule(keyed_partition& of) noexcept = 0;
  virtual void refused(const std::exception& why) noexcept = 0;

 protected:
  ~keyed_host() = default;
};

/// What all partitions of a worker have in common.
struct keyed_rules {
  std::string worker;
  std::uint64_t program = 0;
  std::size_t grain = 1;             ///< items in a message at most
  std::size_t longest = 0;           ///< message of outcomes
  std::uint64_t inputs_a_state = 1;  ///< messages run, at most
  std::chrono::milliseconds state_within{1000};
};

/// In a mark, in the place of a number: the worker has left the partition.
inline constexpr std::uint64_t keyed_left = ~std::uint64_t{0};

/// Where a partition begins.
struct keyed_start {
  std::uint64_t needed_from = 1;  ///< of its inputs
  keyed_position at;              ///< of the states
  std::uint64_t item = 0;         ///< of the source, before which all are in the states
  keyed_position published;       ///< the same behind the last outcome
  std::unique_ptr<keyed_states> states;
  bool is_suspect = false;     ///< the worker before did not leave: it may have died of an item
  keyed_position tried{};      ///< an item of the source that was run alone
  std::uint64_t attempts = 0;  ///< of that
};

class keyed_partition final : ordered_events {
 public:
  using clock = std::chrono::steady_clock;
  /// Workers that an item may take with it before it fails.
  static constexpr std::uint64_t most_losses = 3;

  keyed_partition(ordered_readers& by, const keyed_names& names, std::size_t number, const keyed_rules& rules,
                  keyed_host& host, chain_writer&& chain, keyed_start&& start)
      : rules_(rules),
        host_(host),
        number_(number),
        most_text_(std::min(most_text_bytes, (rules.longest - fleet_bytes_around) / rules.grain - frame_header::size)),
        outcomes_(names.outcomes(number)),
        states_subject_(names.states(number)),
        marks_(names.marks(number)),
        chain_(std::move(chain)),
        at_(start.at),
        item_(start.item),
        published_(start.published),
        is_replaying_(start.published != keyed_position{start.at.session, start.item}),
        suspects_(start.is_suspect ? most_suspects : 0),
        tried_(start.tried),
        attempts_(start.attempts),
        states_(std::move(start.states)),
        inputs_(start.needed_from, start.at),
        reader_(by, number, names.inputs_stream, names.inputs(number), start.needed_from, *this) {
    learn_position();
  }

  std::size_t number() const { return number_; }

  // ---- of the keeper ----

  /// Sends again, asks again, and sees to it that a state is published in time.
  void keep() noexcept {
    reader_.keep();
    std::unique_lock lock(mutex_);
    chain_.keep();
    const bool is_due = has_run_ && clock::now() - state_at_ >= rules_.state_within;
    lock.unlock();
    if (is_due) host_.schedule(*this);
  }
  bool is_lost() {
    const std::lock_guard lock(mutex_);
    return chain_.is_lost();
  }
  /// From now on nothing more is run; what it knows is published.
  void leave() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_leaving_, true)) return;
    }
    host_.schedule(*this);
  }
  /// What comes next is another program's to run.
  bool is_foreign() {
    const std::lock_guard lock(mutex_);
    return is_foreign_ && !inputs_.has_next();
  }
  bool is_leaving() {
    const std::lock_guard lock(mutex_);
    return is_leaving_;
  }
  /// All that it has published is stored, and its state is.
  bool has_left() {
    const std::lock_guard lock(mutex_);
    return has_left_ && chain_.is_empty();
  }
  /// It waits for no server any more.
  void give_up() noexcept {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    stored_.notify_all();
  }
  std::uint64_t next_number() {
    const std::lock_guard lock(mutex_);
    return chain_.next_number();
  }

  void answered(std::uint64_t number, const publish_answer& answer) noexcept {
    bool looks = false;
    {
      const std::lock_guard lock(mutex_);
      looks = chain_.answered(number, answer) && (inputs_.has_next() || has_run_ || is_leaving_);
    }
    stored_.notify_all();
    if (looks) host_.schedule(*this);
  }

  // ---- of one thread of the worker at a time ----

  /// Runs some of what waits. True: there is more. `items`: that were run.
  bool run(std::uint64_t& items) noexcept {
    constexpr int some = 32;
    constexpr std::size_t most_messages = 4;  ///< of what one comes to: outcomes before, its own, a state
    std::unique_lock lock(mutex_);
    for (int i = 0; i != some; ++i) {
      if (is_over_ || chain_.is_lost() || chain_.room() < most_messages) return false;
      const bool is_idle = is_leaving_ || !inputs_.has_next();
      const bool is_due = is_state_due();
      if (is_idle || is_due) flush();
      if (is_due) save(inputs_.needed_from());
      if (is_leaving_ && !std::exchange(has_left_, true)) mark({0, keyed_left});
      if (is_idle) return false;
      const keyed_input next = inputs_.take();
      if (next.count == 0 || chain_.next().frames() + next.count > rules_.grain) flush();
      has_run_ = true;
      ++inputs_run_;
      lock.unlock();
      run_all(next, items);
      lock.lock();
    }
    return true;
  }

 private:
  /// That a worker runs one by one behind one that died. Where it is none of them, the next begins nearer to it.
  static constexpr std::size_t most_suspects = 256;

  void read(nats_message m, std::uint64_t sequence) noexcept override {
    bool has_more = false;
    try {
      const std::lock_guard lock(mutex_);
      if (!inputs_.add(std::move(m), sequence, rules_.program)) is_foreign_ = true;
      has_more = inputs_.has_next() && !is_leaving_;
    } catch (const std::exception& e) {
      host_.refused(e);
    }
    if (has_more) host_.schedule(*this);
  }

  /// The lock is free.
  void run_all(const keyed_input& input, std::uint64_t& items) noexcept {
    if (input.count == 0) {
      if (source_of(input.session) != source_of(at_.session)) item_ = 0;
      at_ = {input.session, 1};
      return learn_position();
    }
    try {
      fleet_reader from(bytes_of(input.raw.get()));
      fleet_reader::frame f;
      for (std::uint64_t number = input.first; from.next(f); ++number) {
        if (number != at_.next) continue;  // it was run with another message
        if (f.header.item < item_) {       // of a driver before this one it was run
          ++at_.next;
          if (!is_replaying_) add_failure(chain_.next(), f.header.item, known_no_more(), most_text_);
          continue;
        }
        if (!is_replaying_ && suspects_ != 0) {
          const trial begun = begin_trial(f.header.item, input.sequence);
          if (begun == trial::over) return;
          if (begun == trial::failed) continue;
        }
        states_->run(f.header.item, f.payload, most_text_, is_replaying_ ? nullptr : &chain_.next());
        ++at_.next;
        item_ = f.header.item + 1;
        ++items;
        learn_position();
      }
    } catch (const std::exception& e) {  // the rest of the message is no items
      host_.refused(e);
      at_.next = input.first + input.count;
      learn_position();
    }
  }
  /// Of an item that the worker before may have died of: the chain knows how often it was tried, before it is run.
  enum class trial { run, failed, over };
  trial begin_trial(std::uint64_t item, std::uint64_t sequence) noexcept {
    std::unique_lock lock(mutex_);
    flush();
    --suspects_;
    const bool was_tried = tried_.next == item && source_of(tried_.session) == source_of(at_.session);
    const std::uint64_t attempts = was_tried ? attempts_ : 0;
    if (attempts >= most_losses) {
      ++at_.next;
      item_ = item + 1;
      add_failure(chain_.next(), item,
                  std::make_exception_ptr(remote_error("its worker was lost " + std::to_string(attempts) + " times")),
                  most_text_);
      save(std::min(sequence, inputs_.needed_from()));  // one message, so that nobody runs it again
      return trial::failed;
    }
    chain_.next().add(frame_kind::item, attempts + 1, {});
    mark({at_.session, item});
    stored_.wait(lock, [this] { return chain_.is_empty() || chain_.is_lost() || is_over_; });
    return chain_.is_empty() && !is_over_ ? trial::run : trial::over;
  }
  /// Under the lock.
  void mark(const keyed_position& at) noexcept {
    chain_.publish(marks_, {fleet_message::mark, 0, 0, rules_.program, at.session, at.next});
    chain_.next().begin(rules_.worker);
  }
  void learn_position() {
    if (source_of(at_.session) == source_of(published_.session) && item_ >= published_.next) is_replaying_ = false;
  }
  /// Its outcome is in the chain, before this one, unless the driver before had that purged.
  static std::exception_ptr known_no_more() {
    return std::make_exception_ptr(remote_error("its outcome is kept no longer"));
  }
  /// Under the lock: publishes the outcomes that are there.
  void flush() noexcept {
    if (chain_.next().frames() == 0) return;
    chain_.publish(outcomes_, {fleet_message::outcomes, 0, 0, rules_.program, at_.session, item_});
    chain_.next().begin(rules_.worker);
  }
  bool is_state_due() const {
    if (!has_run_ || is_replaying_) return false;
    return is_leaving_ || inputs_run_ >= rules_.inputs_a_state || clock::now() - state_at_ >= rules_.state_within;
  }
  /// Under the lock, where no outcome waits. `from`: the first of its inputs that the next worker needs.
  void save(std::uint64_t from) noexcept {
    fleet_writer& to = chain_.next();
    try {
      to.add(frame_kind::item, from, std::as_bytes(std::span(&item_, 1)));
      states_->save(to);
      chain_.publish(states_subject_, {fleet_message::state, 0, 0, rules_.program, at_.session, at_.next});
    } catch (const std::exception& e) {
      host_.refused(e);
    }
    chain_.next().begin(rules_.worker);
    has_run_ = false;
    inputs_run_ = 0;
    state_at_ = clock::now();
  }

  const keyed_rules& rules_;
  keyed_host& host_;
  const std::size_t number_, most_text_;
  const std::string outcomes_, states_subject_, marks_;

  std::mutex mutex_;
  std::condition_variable stored_;
  chain_writer chain_;
  bool is_leaving_ = false, has_left_ = false, is_foreign_ = false, is_over_ = false;
  bool has_run_ = false;          ///< since the last state
  std::uint64_t inputs_run_ = 0;  ///< the same
  clock::time_point state_at_ = clock::now();

  keyed_position at_;   ///< of the states
  std::uint64_t item_;  ///< of the source: all before are in the states
  const keyed_position published_;
  bool is_replaying_;     ///< somebody has published what comes of it
  std::size_t suspects_;  ///< items to be tried alone
  const keyed_position tried_;
  const std::uint64_t attempts_;
  const std::unique_ptr<keyed_states> states_;

  keyed_inputs inputs_;
  ordered_reader reader_;  ///< behind all that it looks at
};

}  // namespace levada::detail
