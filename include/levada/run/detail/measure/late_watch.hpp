// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/measure/late_watch.hpp: counts the items of a session that take longer than its deployment promises, each
// where it spent most: at a stage or before it, before the last region, or until it was popped. Of timed grains alone
// (run/detail/measure/lanes.hpp) the stage is known.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada {

/// An item that was late, as `on_late` is told.
struct late_item {
  std::uint64_t sequence = 0;        ///< of results in their order
  std::chrono::nanoseconds age{0};   ///< from its push, or its capture, until it was popped
  std::chrono::nanoseconds most{0};  ///< that the deployment promises
  std::string_view stage{};          ///< where it spent most; empty: at no stage, or nobody knows
};

namespace detail {

class late_watch final : public item_watcher {
 public:
  late_watch(const watched_latency& what, const program& code, meter& by)
      : item_watcher(static_cast<nanoseconds>(what.most.count())),
        what_(what),
        code_(code),
        by_(by),
        slots_(code.slots),
        late_at_(code.units.size()) {}

  static item_watcher* make(const watched_latency& what, const program& code, meter& by) {
    return new late_watch(what, code, by);
  }

  void begun(sequence item, nanoseconds since) override {
    slot& s = slot_of(item);
    if (s.item.load(relaxed) == item) return;
    s.mark.store(since, relaxed), s.longest.store(0, relaxed), s.unit.store(nowhere, relaxed);
    s.item.store(item, relaxed);
  }
  /// What lies between is the time there, or before it. Branches of an item run at once, each as long as it takes.
  void ran(std::size_t unit, sequence first, std::size_t count, nanoseconds at) override {
    auto i = static_cast<std::size_t>(first % slots_.size());
    for (std::size_t n = 0; n < count; ++n) {
      slot& s = slots_[i];
      const nanoseconds before = s.mark.load(relaxed);
      s.mark.store(at, relaxed);
      take(s, unit, at > before ? at - before : 0);
      if (++i == slots_.size()) i = 0;
    }
  }
  void left(sequence item, nanoseconds since, nanoseconds age, nanoseconds at) override {
    begun(item, since);  // where it was in no timed grain
    slot& s = slot_of(item);
    if (at != 0) {
      const nanoseconds here = at - since, mark = s.mark.load(relaxed);
      take(s, nowhere, at > mark ? at - mark : 0);
      take(s, nowhere, age > here ? age - here : 0);
    }
    const std::size_t unit = s.unit.load(relaxed);
    late_.fetch_add(1, relaxed);
    if (unit != nowhere) late_at_[unit].fetch_add(1, relaxed);
    if (at != 0 && by_.traces())
      meter::turn(&by_).note(
          {trace_kind::late, unit != nowhere ? meter::small(unit) : trace_event::no_unit, 0, 1, item, at - age, at});
    if (what_.on_late == nullptr) return;
    const std::string_view name = unit != nowhere ? std::string_view(code_.units[unit].name) : std::string_view();
    what_.on_late({item, std::chrono::nanoseconds(age), what_.most, name});
  }
  void write_to(session_statistics& all) const override {
    all.latency_budget = static_cast<std::uint64_t>(what_.most.count());
    all.late = late_.load(relaxed);
    for (std::size_t u = 0; u < late_at_.size(); ++u) all.stages[u].late = late_at_[u].load(relaxed);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  static constexpr std::size_t nowhere = ~std::size_t{0};

  /// Of an item that was in a timed grain. Threads that run branches of it write at once.
  struct slot {
    atomic<sequence> item{~sequence{0}};
    atomic<nanoseconds> mark{0}, longest{0};
    atomic<std::size_t> unit{nowhere};
  };
  slot& slot_of(sequence item) { return slots_[static_cast<std::size_t>(item % slots_.size())]; }
  static void take(slot& s, std::size_t unit, nanoseconds time) {
    if (time <= s.longest.load(relaxed)) return;
    s.longest.store(time, relaxed), s.unit.store(unit, relaxed);
  }

  const watched_latency what_;
  const program& code_;
  meter& by_;
  fixed_array<slot> slots_;
  fixed_array<atomic<std::uint64_t>> late_at_;
  atomic<std::uint64_t> late_{0};
};

}  // namespace detail
}  // namespace levada
