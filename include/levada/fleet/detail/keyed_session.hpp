// SPDX-License-Identifier: Apache-2.0
#pragma once
// fleet/detail/keyed_session.hpp: a session of a driver with the partitions of a fleet, which are its own while it is
// open: its begin is in each of them, and behind that nothing of a session before it counts.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <levada/fleet/detail/fleet_names.hpp>
#include <levada/fleet/detail/kernel.hpp>
#include <levada/fleet/detail/keyed_inputs.hpp>
#include <levada/fleet/detail/keyed_names.hpp>
#include <levada/fleet/detail/keyed_states.hpp>
#include <levada/fleet/detail/keyed_streams.hpp>
#include <levada/fleet/detail/lease.hpp>
#include <levada/fleet/detail/message.hpp>
#include <levada/fleet/detail/nats.hpp>
#include <levada/fleet/detail/session_keeper.hpp>
#include <levada/fleet/detail/session_record.hpp>
#include <levada/fleet/detail/streams.hpp>
#include <levada/fleet/detail/taken_state.hpp>
#include <levada/remote/detail/device.hpp>

namespace levada::detail {

class keyed_session {
 public:
  using clock = std::chrono::steady_clock;

  /// `kept`: of a session with a name, which begins here. Throws remote_error where another session has the partitions,
  /// or what is stored there is of another program that has not finished, or whose states do not load.
  keyed_session(const nats_connection& by, const keyed_names& names, const fleet_kernel& kernel, std::uint64_t number,
                session_keeper* kept)
      : by_(by),
        names_(names),
        way_(*kernel.way),
        number_(number),
        who_(hex(number)),
        bucket_(by, names.leases),
        revision_(wait_for_lease(kept != nullptr)) {
    try {
      session_place place = kept != nullptr ? kept->before() : session_place{};
      if (wait_for_others()) {  // they had the partitions when all outcomes were done
        place.needed = place.done;
        if (kept != nullptr) kept->check_goes_on();
      }
      for (std::size_t p = 0; p < way_.by_key->partitions; ++p) begin(p, kept != nullptr ? &place : nullptr);
      if (kept != nullptr) kept->begin(place);
    } catch (...) {
      bucket_.give_back(keyed_names::driver_key);
      throw;
    }
  }
  ~keyed_session() {
    const auto is_ours = [this] { return bucket_.renew(keyed_names::driver_key, who_, revision_); };
    if (!is_lost_ && is_ours() == lease_bucket::renewal::done) bucket_.give_back(keyed_names::driver_key);
  }
  keyed_session(const keyed_session&) = delete;
  keyed_session& operator=(const keyed_session&) = delete;

  std::uint64_t number() const { return number_; }
  /// Where its outcomes begin in the stream of a partition.
  std::uint64_t first_outcome(std::size_t partition) const { return outcomes_[partition].first; }
  /// Its last message when this session began.
  std::uint64_t last_before(std::size_t partition) const { return outcomes_[partition].before; }

  /// False: another driver has taken its place. By one thread.
  bool keep() noexcept {
    if (is_lost_ || clock::now() - renewed_at_ < way_.to.lease / 3) return !is_lost_;
    renewed_at_ = clock::now();
    is_lost_ = bucket_.renew(keyed_names::driver_key, who_, revision_) == lease_bucket::renewal::lost && !takes_again();
    return !is_lost_;
  }

  /// Of a server that was killed: the begin may be lost. Who has it looks at no second one.
  void publish_begin(std::size_t partition) const noexcept {
    fleet_writer to;
    to.begin();
    const std::span<const std::byte> bytes = end_begin(to);
    by_.say(names_.inputs(partition).c_str(),
            std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

 private:
  /// Sequences of a stream: of the first message that is read, and of the last before this session.
  struct stored_range {
    std::uint64_t first = 0, before = 0;
  };

  /// The lease of a driver that died is over in a moment; that of a session with a name is the next driver's.
  std::uint64_t wait_for_lease(bool has_name) {
    const auto latest = clock::now() + patience();
    for (;;) {
      renewed_at_ = clock::now();
      auto revision = bucket_.take(keyed_names::driver_key, who_);
      constexpr std::size_t digits = (64 - driver_bits) / 4;
      if (!revision && has_name)
        revision = bucket_.take_over(keyed_names::driver_key, who_, std::string_view(who_).substr(0, digits));
      if (revision) return *revision;
      if (clock::now() > latest)
        throw remote_error(by_.who() + " has a session already: its partitions have one at a time");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  std::chrono::nanoseconds patience() const { return way_.to.lease + way_.to.lease / 2; }
  /// Where a session with a name has items that are run, or will be, and whose outcomes are not done, no other has the
  /// partitions. True: another than this had them last. A worker saves the states of one that has ended in a moment.
  bool wait_for_others() {
    const auto latest = clock::now() + patience() + std::chrono::seconds(1);
    for (;;) {
      bool are_there = false;
      std::string unfinished;
      std::uint64_t named = 0;
      session_stored of;
      for (std::size_t p = 0; p < way_.by_key->partitions; ++p) {
        const last_source last = last_of(p);
        if (last.session == 0 || source_of(last.session) == source_of(number_)) continue;
        are_there = true;
        if (const std::uint64_t number = last.session >> driver_bits << driver_bits; number != named) {
          named = number;  // if it is
          of = stored_session(by_, names_.sessions_stream, names_.session(named), "a session with a name");
        }
        if (!of.name.empty() && (last.is_unrun || last.item > of.place.done)) unfinished = of.name;
      }
      if (unfinished.empty()) return are_there;
      if (clock::now() > latest)
        throw remote_error(by_.who() + ": outcomes of the session `" + unfinished +
                           "` are not done: open that, and pop them first");
      keep();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  /// Who had a partition last, and before which item all are in the state.
  struct last_source {
    std::uint64_t session = 0, item = 0;
    bool is_unrun = false;  ///< its last items are in no state
  };
  last_source last_of(std::size_t partition) const {
    const stored_state state = load_last_state(by_, names_, partition, *way_.make_states());
    const nats_message m = last_message(by_, names_.inputs_stream, names_.inputs(partition));
    if (!m || natsMsg_GetSequence(m.get()) < state.needed_from) return {state.at.session, state.item, false};
    try {
      return {fleet_reader(bytes_of(m.get())).envelope().session, 0, true};
    } catch (const wire_error&) {  // of nobody
      return {state.at.session, state.item, false};
    }
  }
  /// Where the server was away for longer than the lease nobody has it. Where it was killed behind a renewal that was
  /// not acknowledged this session has it, by another revision.
  bool takes_again() noexcept {
    auto revision = bucket_.take(keyed_names::driver_key, who_);
    if (!revision) revision = bucket_.take_over(keyed_names::driver_key, who_, who_);
    if (revision) revision_ = *revision;
    return revision.has_value();
  }
  /// `of`: how far a session with a name is.
  void begin(std::size_t partition, const session_place* of) {
    const std::string chain = names_.chain_stream(partition), inputs = names_.inputs(partition);
    const stored_state last = load_last_state(by_, names_, partition, *way_.make_states());
    if (last.sequence != 0) {
      purge(names_.inputs_stream, inputs, last.needed_from);
      const bool has_needed = of != nullptr && source_of(last.at.session) == source_of(number_) && last.item > of->done;
      if (!has_needed) purge(chain, {}, last.sequence);
    }
    if (last.sequence != 0 && last.program != way_.program &&
        last_message(by_, names_.inputs_stream, inputs) != nullptr)
      throw remote_error(by_.who() + ": partition " + std::to_string(partition) +
                         " has items of another program: start a worker of that, and wait for it");
    jsStreamInfo* info = nullptr;
    by_.check(js_GetStreamInfo(&info, by_.stored(), chain.c_str(), nullptr, nullptr), "a stream cannot be read");
    const std::uint64_t before = info->State.LastSeq;
    outcomes_.push_back({of != nullptr ? info->State.FirstSeq : before + 1, before});
    jsStreamInfo_Destroy(info);
    fleet_writer to;
    to.begin();
    publish_stored(by_, inputs, who_ + ".begin." + std::to_string(partition), end_begin(to));
  }
  std::span<const std::byte> end_begin(fleet_writer& of) const {
    return of.end({fleet_message::begin, 0, 0, way_.program, number_, 0});
  }
  /// Up to that sequence, and waits until it is done.
  void purge(const std::string& stream, const std::string& subject, std::uint64_t sequence) const {
    if (sequence < 2) return;
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Purge.Subject = subject.empty() ? nullptr : subject.c_str();
    options.Stream.Purge.Sequence = sequence;
    by_.check(js_PurgeStream(by_.stored(), stream.c_str(), &options, nullptr), "a stream cannot be purged");
  }

  const nats_connection& by_;
  const keyed_names& names_;
  const fleet_way& way_;
  const std::uint64_t number_;
  const std::string who_;
  const lease_bucket bucket_;
  clock::time_point renewed_at_{};
  std::uint64_t revision_;
  bool is_lost_ = false;
  std::vector<stored_range> outcomes_;  ///< of the partitions
};

}  // namespace levada::detail
