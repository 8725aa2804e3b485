// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/item_tally.hpp: what became of the items of an engine, counted.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Why an item is dropped: drop_counts.
enum class drop_reason : std::uint8_t { replaced, rejected, partnerless, partial, overdue, overdue_at_output };
inline constexpr std::size_t drop_reasons = 6;

/// An item is counted once, when it leaves.
template <class = void>
struct alignas(64) basic_item_tally {
  atomic<std::uint64_t>& of(item_state state) {
    switch (state) {
      case item_state::filtered:
        return filtered;
      case item_state::dropped:
        return of(drop_reason::overdue);
      case item_state::overdue:
        return of(drop_reason::overdue_at_output);
      case item_state::cancelled:
        return cancelled;
      default:
        return delivered;
    }
  }
  atomic<std::uint64_t>& of(drop_reason why) { return drops[static_cast<std::size_t>(why)]; }

  /// Only the popper counts there: no locked addition.
  static void count_by_popper(atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Of items that were dropped at admission, without a place in the order of items.
  void count_at_admission(drop_reason why) {
    at_admission.fetch_add(1, std::memory_order_relaxed);
    of(why).fetch_add(1, std::memory_order_relaxed);
  }
  /// Some that were counted as delivered went into nothing behind that.
  void count_dropped_behind(std::size_t count) {
    delivered.fetch_sub(count);
    of(drop_reason::partial).fetch_add(count);
  }

  /// All of them, where so many were pushed behind the first `before`: that is looked at last.
  item_counts counts(const atomic<std::uint64_t>& pushed, std::uint64_t before = 0) const {
    item_counts c;
    c.delivered = delivered.load(), c.failed = failed.load(), c.filtered = filtered.load();
    const auto dropped = [&](drop_reason why) { return drops[static_cast<std::size_t>(why)].load(); };
    c.drops = {dropped(drop_reason::replaced), dropped(drop_reason::rejected), dropped(drop_reason::partnerless),
               dropped(drop_reason::partial),  dropped(drop_reason::overdue),  dropped(drop_reason::overdue_at_output)};
    c.dropped = c.drops.sum(), c.cancelled = cancelled.load(), c.refused = refused.load();
    c.pushed = pushed.load() - before + c.drops.replaced + c.drops.rejected + c.drops.partnerless;
    c.in_flight = c.pushed - c.delivered - c.failed - c.filtered - c.dropped - c.cancelled;
    return c;
  }

  /// Of items to come; none is in flight.
  void begin_again() {
    for (atomic<std::uint64_t>* count : {&delivered, &failed, &filtered, &cancelled, &at_admission, &refused})
      count->store(0, std::memory_order_relaxed);
    for (atomic<std::uint64_t>& count : drops) count.store(0, std::memory_order_relaxed);
  }

  atomic<std::uint64_t> delivered{0};
  atomic<std::uint64_t> failed{0}, filtered{0}, cancelled{0}, at_admission{0}, refused{0};
  atomic<std::uint64_t> drops[drop_reasons]{};
};
using item_tally = basic_item_tally<>;

}  // namespace levada::detail
