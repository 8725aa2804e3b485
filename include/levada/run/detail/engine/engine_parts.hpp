// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/engine_parts.hpp: the parts of an engine, side by side: what each is for is said in its own header.
// Each header of this folder that runs items adds the calls of its topic to those of the one before:
// value_places < run_units < run_branches < finish_items < bring_workers < report_devices < claim_grains < run_grains
// < single_items < push_items < pop_results < engine.
//
// Classes of run/ that no type of a user goes into are templates all the same: `engine` is `basic_engine<>`. A compiler
// instantiates only those of their functions that a program calls. As plain classes they took a tenth of the time of
// including the umbrella, besides one collection of g++'s garbage.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/completed_items.hpp>
#include <levada/run/detail/engine/device_bridge.hpp>
#include <levada/run/detail/engine/engine_links.hpp>
#include <levada/run/detail/engine/item_tally.hpp>
#include <levada/run/detail/engine/segment.hpp>
#include <levada/run/detail/engine/slot_ring.hpp>
#include <levada/run/detail/engine/sole_thread.hpp>
#include <levada/run/detail/engine/switched_meter.hpp>
#include <levada/run/detail/engine/thread_waker.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/workers/event_count.hpp>
#include <levada/run/detail/workers/permits.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Who hears of each item that fails, on the thread where it fails.
struct failure_hook {
  void (*call)(void* object, std::uint64_t sequence, const std::exception_ptr& why) noexcept = nullptr;
  void* object = nullptr;
};

/// Items that their owner has side by side, all that will come, and that stay there until they are popped: the `n`-th
/// is looked at when it is begun, and not before. `place` makes the next items of such a row known where others are.
struct item_row {
  const std::byte* first = nullptr;
  std::size_t bytes = 0;
  void (*place)(const std::byte* from, const input_row& to, std::size_t count) = nullptr;
};

/// Whatever one running instance of a program has.
template <class = void>
class basic_engine_parts {
 public:
  using sequence = std::uint64_t;

  basic_engine_parts(const basic_engine_parts&) = delete;
  basic_engine_parts& operator=(const basic_engine_parts&) = delete;

  const session_settings& settings() const { return settings_; }
  sequence pushed() const { return ring_.pushed.load(); }
  sequence finished() const { return segments_.back().finished.load(); }
  bool is_cancelled() const { return cancelled_.load(); }
  /// Workers are at this session, so that its items go from processor to processor.
  bool is_shared() const { return waker_.is_shared(); }
  bool has_devices() const { return static_cast<bool>(devices_); }

 protected:
  /// `borrows_input`: items are the caller's own objects.
  [[gnu::cold]] basic_engine_parts(const program& code, const engine_links& links, permits& concurrency_limit,
                                   event_count& event, engine_host& host, bool borrows_input,
                                   const session_settings& settings)
      : code_(code),
        settings_(settings),
        is_usual_(settings.is_usual()),
        concurrency_limit_(concurrency_limit),
        destroys_input_(!borrows_input || code.owns_input),
        goes_short_(!settings.latest_only && !code.board),
        looks_at_output_(settings.deadline_at_output),
        ring_(code.slots, code.slot_bytes, code.alignment, settings.external_results),
        states_(code),
        completed_(settings.unordered ? owner<completed_items>(new completed_items(code.slots))
                                      : owner<completed_items>()),
        versions_(code.board ? code.board->open(code.slots) : owner<object_versions>()),
        objects_(versions_ ? code.slots : 0),
        segments_(code.segments.size(),
                  [&](std::size_t s) {
                    return segment(code.segments[s], ring_.slots, code.slot_bytes, code.alignment, code.threads,
                                   links.has_device(s));
                  }),
        paths_(code.units.size()),
        is_chained_(code.units.size()),
        meter_(code),
        waker_(event, host),
        branches_(links.branches) {
    if (completed_) ring_.known_finished = ~sequence{0};  // whether there is a result does not go by the frontier
  }
  ~basic_engine_parts() { states_.used = ring_.pushed.load() != 0; }

  sequence arrived(std::size_t s) const { return s == 0 ? ring_.pushed.load() : segments_[s - 1].finished.load(); }

  /// Null: nothing is measured.
  meter* measuring() const { return meter_.measuring(); }
  void hint() { waker_.hint(); }

  const program& code_;
  const session_settings settings_;
  const bool is_usual_;  ///< no setting changes how items come in
  permits& concurrency_limit_;
  const bool destroys_input_;
  const bool goes_short_;       ///< grains of cheap items may go from end to end at once
  const bool looks_at_output_;  ///< whether results are past their deadline
  slot_ring ring_;
  sequence first_ = 0;  ///< of the items of this stream: those before were of others that had this engine
  item_row row_;        ///< what comes in, if it comes so
  failure_hook on_failure_;
  bool hands_out_all_ = false;
  session_states states_;
  const owner<completed_items> completed_;  ///< where results leave as they complete
  owner<object_versions> versions_;         ///< where parameters can be replaced
  fixed_array<void* const*> objects_;       ///< of the version of the item in each slot
  fixed_array<segment> segments_;
  items_end end_of_items_{0};       ///< of all grains that run
  fixed_array<unit_path> paths_;    ///< of each unit
  fixed_array<bool> is_chained_;    ///< where a chain begins that can be run as one
  bool runs_single_items_ = false;  ///< chains are all there is

  sole_thread sole_;
  switched_meter meter_;
  thread_waker waker_;
  const branch_calls* const branches_;
  owner<device_bridge> devices_;  ///< of segments that have one; null where none has
  atomic<int> passing_over_{0};
  atomic<bool> cancelled_{false};
  atomic<bool> some_come_failed_{false};  ///< the first segment gets items that have failed
  atomic<bool> closed_{false};
  item_tally tally_;
};
using engine_parts = basic_engine_parts<>;

}  // namespace levada::detail
