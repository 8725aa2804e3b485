// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/segment.hpp: the schedule of one segment: which items are claimed as a grain, who has which grain,
// at which ticket it waits, and how far all items are finished. Knows neither what a unit does nor who is woken.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/engine/count_relaxed.hpp>
#include <levada/run/detail/engine/grain.hpp>
#include <levada/run/detail/engine/slot_ring.hpp>
#include <levada/run/detail/program/branches.hpp>
#include <levada/run/detail/program/program.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

inline std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(thread_time() - start).count());
}

/// The next item that a serial unit admits.
struct alignas(64) ticket {
  atomic<std::uint64_t> next{0};
};

/// A grain with what it was claimed for; null: there was nothing, or no grain free.
struct claimed_items {
  grain* by = nullptr;
  std::uint64_t begin = 0, count = 0;
};

template <class = void>
struct basic_segment {
  using sequence = std::uint64_t;

  [[gnu::cold]] basic_segment(const program_segment& of, std::size_t slots, std::size_t slot_bytes,
                              std::size_t alignment, int threads, bool has_device_ = false)
      : code(of),
        has_device(has_device_),
        memory(of.grains, of.scratch_bytes, alignment),
        grains(of.grains),
        tickets(of.tickets),
        branches(of.forks ? of.grains : 0),
        done(slots) {
    for (std::size_t i = 0; i < grains.size(); ++i) grains[i].memory = memory.get() + i * of.scratch_bytes;
    forget_caller();
    limit.store(1, std::memory_order_relaxed);
    // Where nothing of an item lies in the scratchpad, cheap items may come in longer grains.
    longest = of.item_bytes == 0 ? std::clamp(longest_grain_bytes / slot_bytes, of.grain, slots) : of.grain;
    const std::size_t grains_wanted = std::max<std::size_t>(4, 2 * static_cast<std::size_t>(threads));
    longest_shared = std::min(longest, std::max(of.grain, std::min(longest_shared_grain, slots / grains_wanted)));
  }

  // ---- claims ----

  bool has_free_grain() const {
    if (claimed.load() == finished.load()) return true;
    for (std::size_t i = 1; i < grains.size(); ++i)
      if (grains[i].state.load(std::memory_order_relaxed) == grain_state::free) return true;
    return false;
  }
  grain* take_free_grain() {
    for (std::size_t i = 1; i < grains.size(); ++i) {
      grain& g = grains[i];
      grain_state expected = grain_state::free;
      if (g.state.load(std::memory_order_relaxed) == grain_state::free &&
          g.state.compare_exchange_strong(expected, grain_state::running))
        return &g;
    }
    return nullptr;
  }
  /// Each of equal devices works on one item at a time, and there are as many grains.
  grain& grain_of_device() {
    for (;;)
      for (grain& g : grains) {
        grain_state expected = grain_state::free;
        if (g.state.compare_exchange_strong(expected, grain_state::running)) return g;
      }
  }
  /// Claims the next items, where there are some before `arrived()` and a grain for them: `count_of(begin, waiting)` of
  /// those that wait from `begin` on.
  template <class Arrived, class CountOf>
  [[gnu::always_inline]] claimed_items claim(Arrived arrived, CountOf count_of) {
    sequence begin = claimed.load();
    // Where nothing is in flight, whoever moves `claimed` has the segment to itself: the first grain is kept for that.
    grain* mine = &grains.front();
    bool alone = begin == finished.load();
    if (!alone && !(mine = take_free_grain())) return {};
    for (;;) {
      const sequence there = arrived();
      if (begin >= there) {
        if (!alone) mine->state.store(grain_state::free);
        return {};
      }
      const sequence count = count_of(begin, there - begin);
      if (claimed.compare_exchange_strong(begin, begin + count)) return {mine, begin, count};
      if (!alone) continue;
      alone = false;  // another was faster
      if (!(mine = take_free_grain())) return {};
    }
  }

  /// To its device. Nobody is at it: who is looks once more behind that, so that others need not wait for it.
  bool may_submit() const { return !submitting.load(); }

  // ---- deposits ----

  bool has_admitted_grain() const {
    for (const grain& g : grains)
      if (g.is_admitted(g.state.load())) return true;
    return false;
  }
  bool has_deposited_at(const atomic<sequence>& next) const {
    for (const grain& g : grains)
      if (is_deposited(g.state.load(std::memory_order_relaxed)) && g.ticket.load(std::memory_order_relaxed) == &next)
        return true;
    return false;
  }
  /// Leaves the grain for whoever comes when ticket `at` has come to it; null: whoever comes. Says which deposit it is.
  grain_state deposit(grain& g, const atomic<sequence>* at) {
    g.always.store(g.begin, std::memory_order_relaxed);
    g.ticket.store(at != nullptr ? at : &g.always, std::memory_order_relaxed);
    g.first.store(g.begin, std::memory_order_relaxed);
    g.watch.deposited();
    const grain_state deposited_as = g.next_deposit;
    g.next_deposit = static_cast<grain_state>(static_cast<std::uint64_t>(deposited_as) + 1);
    deposited.fetch_add(1);
    g.state.store(deposited_as);
    return deposited_as;
  }
  /// Takes up that very deposit; false: somebody else did.
  bool take_up(grain& g, grain_state seen) {
    if (!g.state.compare_exchange_strong(seen, grain_state::running)) return false;
    deposited.fetch_sub(1);
    return true;
  }
  /// A deposited grain that is admitted now; only one at ticket `at`, where that is given.
  grain* resume(const atomic<sequence>* at = nullptr) {
    if (deposited.load() == 0) return nullptr;
    for (grain& g : grains) {
      const grain_state seen = g.state.load();
      if (g.is_admitted(seen) && (at == nullptr || g.ticket.load(std::memory_order_relaxed) == at) && take_up(g, seen))
        return &g;
    }
    return nullptr;
  }
  /// Of a grain that is admitted by all tickets.
  void pass_tickets(sequence end) noexcept {
    for (ticket& t : tickets) t.next.store(end, std::memory_order_release);
  }

  // ---- the frontier ----

  /// Moves the frontier on over a finished grain and those behind it that were finished before; or leaves a stamp for
  /// who finishes the one that is waited for. Says whether the frontier moved; `frontier` is where it is then.
  bool finish(const slot_ring& ring, sequence begin, sequence end, sequence& frontier) {
    frontier = finished.load();
    if (frontier == begin) {
      finished.store(end);  // nobody else can: there is no stamp at `begin`
      frontier = end;
    } else {
      done[ring.index(begin)].store(end);
      frontier = finished.load();
    }
    const bool at_end = frontier == end;
    return follow_stamps(ring, frontier) || at_end;
  }
  /// From the frontier on. Says whether it moved.
  bool follow_stamps(const slot_ring& ring, sequence& frontier) {
    bool moved = false;
    for (;;) {
      const sequence reached = done[ring.index(frontier)].load();
      if (reached <= frontier) return moved;
      if (finished.compare_exchange_strong(frontier, reached)) {
        frontier = reached;
        moved = true;
      }
    }
  }

  // ---- what its items take ----

  /// One stage, in order: a second thread can only feed and fetch.
  bool is_single_stage() const { return code.end - code.first == 1 && code.tickets == 1; }
  /// A grain that goes from thread to thread takes the line of every ticket along.
  std::uint32_t own_cheap_ns() const {
    return is_single_stage() ? cheap_single_stage_ns
                             : cheap_item_ns + ticket_ns * static_cast<std::uint32_t>(code.tickets);
  }
  /// Nothing is known of what the thread takes that feeds and fetches.
  void forget_caller() { cheap_ns.store(own_cheap_ns(), std::memory_order_relaxed); }
  /// Its items are known to take less than their way to another processor.
  [[gnu::always_inline]] bool is_cheap() const {
    const std::uint32_t ns = item_ns.load(std::memory_order_relaxed);
    return ns != 0 && ns < cheap_ns.load(std::memory_order_relaxed);
  }
  /// A look at the clock takes as long as some cheap items.
  bool is_timed(std::size_t count) const {
    return grains_run.load(std::memory_order_relaxed) % (count == 1 ? 4 * timed_every : timed_every) == 0;
  }
  /// An item took so long; what that says of the grains to come.
  void learn(std::uint64_t ns) {
    const std::uint64_t before = item_ns.load(std::memory_order_relaxed);
    const std::uint64_t capped = std::min<std::uint64_t>(ns, 1'000'000'000);
    // Faster down than up: what a stage takes is what it takes undisturbed.
    const std::uint64_t mean = std::max<std::uint64_t>(1, before == 0       ? capped
                                                          : capped < before ? (before + capped) / 2
                                                                            : (before * 7 + capped) / 8);
    item_ns.store(static_cast<std::uint32_t>(mean), std::memory_order_relaxed);
    // Long grains cost a second thread its share; cheap items have none.
    const std::uint64_t most = mean < cheap_ns.load(std::memory_order_relaxed)
                                   ? std::min<std::uint64_t>(longest, cheap_grain_ns / mean)
                                   : std::min<std::uint64_t>(longest_shared, unit_ns * (code.end - code.first) / mean);
    if (most != limit.load(std::memory_order_relaxed))
      limit.store(std::max<std::uint64_t>(1, most), std::memory_order_relaxed);
  }

  static constexpr std::uint32_t cheap_item_ns = 60, ticket_ns = 4, cheap_single_stage_ns = 300;
  static constexpr std::uint32_t timed_every = 16;
  static constexpr std::uint64_t unit_ns = 16'000;  // a thread's way to what another had takes 1 to 2 us a grain
  static constexpr std::uint64_t cheap_grain_ns = 8'000;
  static constexpr std::size_t longest_grain_bytes = 16 * 1024;  // half of a first-level cache
  static constexpr std::size_t longest_shared_grain = 64;        // what comes behind it waits no longer

  const program_segment& code;
  const bool has_device;              ///< which computes it
  bool is_direct = false;             ///< its input stays where a device left it
  atomic<std::uint32_t> cheap_ns{0};  ///< items that take less are not worth a second thread
  std::size_t longest;                ///< of a grain of items so cheap that they are not shared
  std::size_t longest_shared;         ///< of the others
  arena_bytes memory;
  fixed_array<grain> grains;
  fixed_array<ticket> tickets;
  fixed_array<shared_branches> branches;  ///< of the items of grains, by these; where there may be some
  fixed_array<atomic<sequence>> done;     ///< where a finished grain began: its end
  alignas(64) atomic<sequence> claimed{0};
  alignas(64) atomic<sequence> finished{0};
  alignas(64) atomic<std::uint32_t> deposited{0};
  atomic<std::uint32_t> offered{0};  ///< grains with branches that nobody has begun
  atomic<std::size_t> limit{1};      ///< of a grain, by what items take; one until that is known
  atomic<std::uint32_t> item_ns{0};  ///< a running mean; 0: not known yet
  atomic<std::uint32_t> grains_run{0};
  atomic<bool> submitting{false};  ///< to a device: one thread at a time
};
/// A class of its own: local variables have its name, which g++ says of no class.
struct segment : basic_segment<> {
  using basic_segment<>::basic_segment;
};

}  // namespace levada::detail
