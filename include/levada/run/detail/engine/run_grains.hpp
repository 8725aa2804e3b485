// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/run_grains.hpp: a grain runs through the units of its segment, to the end or to a ticket that is
// taken.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/core/detail/clock.hpp>
#include <levada/run/detail/engine/claim_grains.hpp>
#include <levada/run/detail/measure/meter.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Does what a thread with a permit does.
template <class = void>
class basic_grain_runner : public grain_claimer {
 public:
  /// One grain, at most, at each segment in turn. Says whether anything was done. The caller holds a permit.
  [[gnu::noinline]] bool visit() noexcept {
    bool any = false;
    for (std::size_t s = 0; s < segments_.size(); ++s) any |= step(s);
    return any;
  }

  /// One grain, at most, at segment `s`; or what is ready there is handed to its device.
  bool step(std::size_t s) noexcept {
    segment& seg = segments_[s];
    if (seg.has_device) return devices_->submit(s);
    sole_.wait_for_claim();
    if (run_short(s)) return true;
    if (grain* g = seg.resume()) {
      run(s, *g);
      return true;
    }
    if (grain* g = nullptr; seg.offered.load() != 0 && branches_->help(*this, s, g)) {
      if (g != nullptr) run(s, *g);
      return true;
    }
    if (grain* g = claim(s)) {
      run(s, *g);
      return true;
    }
    return false;
  }

 protected:
  using grain_claimer::grain_claimer;

  [[gnu::always_inline]] static const atomic<sequence>* ticket_of(const segment& seg, const program_unit& unit);
  void deposit(segment& seg, grain& g);
  bool admitted(segment& seg, grain& g, const program_unit& unit);

  bool run_short(std::size_t s) noexcept;
  void end_short(std::size_t s, sequence begin, sequence end, bool some_silent) noexcept;
  chain_call call_of_chain(std::size_t u, std::byte* memory, std::size_t at, std::size_t count,
                           const std::byte* row = nullptr);
  bool run_chain(segment& seg, grain& g, std::size_t count) noexcept;
  void run(std::size_t s, grain& first) noexcept;
  void run_next(segment& seg, grain& g, std::size_t count) noexcept;
  grain* run_until_deposited(std::size_t s, grain& g, int& swaps) noexcept;

  static constexpr std::uint64_t ticket_spin_ns = 2'000;
  static constexpr std::uint64_t most_ns_to_swap = 50'000;  // of items that the caller has not asked for
  static constexpr std::uint64_t short_grain_ns = 1'000;    // those that come meanwhile wait no longer
  static constexpr std::uint32_t always_timed_ns = 250;
};
using grain_runner = basic_grain_runner<>;

/// What the grain has to wait for before that unit; null: nothing.
template <class T>
inline const atomic<grain_runner::sequence>* basic_grain_runner<T>::ticket_of(const segment& seg,
                                                                              const program_unit& unit) {
  return unit.serial ? &seg.tickets[unit.ticket].next : nullptr;
}

/// Leaves the grain for whoever comes when its next unit admits it.
template <class T>
inline void basic_grain_runner<T>::deposit(segment& seg, grain& g) {
  seg.deposit(g, ticket_of(seg, code_.units[g.unit]));
}

/// Waits shortly for the ticket, where there is nothing better to do; else deposits the grain.
template <class T>
inline bool basic_grain_runner<T>::admitted(segment& seg, grain& g, const program_unit& unit) {
  atomic<sequence>& next = seg.tickets[unit.ticket].next;
  if (next.load(std::memory_order_acquire) == g.begin) return true;
  if (concurrency_limit_.count() > 1 && (seg.deposited.load() == 0 || !seg.has_deposited_at(next))) {
    const auto start = thread_time();
    std::uint64_t waited = 0;
    std::uint32_t seen = waker_.hints();
    do {
      bool admits = false;
      for (int i = 0; i < 16 && !admits; ++i) {
        spin_pause();
        admits = next.load(std::memory_order_acquire) == g.begin;
      }
      waited = nanoseconds_since(start);
      if (admits) {
        g.waited_ns += waited;
        if (g.watch) g.watch.waited(g.unit, waited);
        return true;
      }
      if (waker_.hints() != seen) {
        seen = waker_.hints();
        if (seg.deposited.load() != 0 && seg.has_admitted_grain()) break;  // better than to wait
      }
    } while (waited < ticket_spin_ns);
  }
  const sequence begin = g.begin;
  const grain_state deposited = seg.deposit(g, &next);
  // The ticket may have come just before others could see the grain: then nobody else takes it up.
  return next.load() == begin && seg.take_up(g, deposited);
}

/// A grain of items so cheap that nobody would gain by a stage that it is through with, where nothing is before it:
/// every ticket has come to it, and goes on at its end. Says whether there was one.
template <class T>
inline bool basic_grain_runner<T>::run_short(std::size_t s) noexcept {
  segment& seg = segments_[s];
  sequence begin = seg.claimed.load(std::memory_order_relaxed);
  const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
  const sequence waiting = arrived(s) - begin;
  if (waiting == 0 || ns == 0 || ns >= short_grain_ns || !goes_short_ || seg.finished.load() != begin || measuring())
    return false;
  const std::size_t at = ring_.index(begin);
  const sequence count = std::min({waiting, static_cast<sequence>(seg.limit.load(std::memory_order_relaxed)),
                                   static_cast<sequence>(ring_.slots - at)});
  if (!seg.is_cheap() && (ns * count >= short_grain_ns || count != waiting)) return false;
  if (!seg.claimed.compare_exchange_strong(begin, begin + count)) return false;

  grain& g = seg.grains.front();  // as in `claim`
  begin_grain(s, g, begin, count);
  const bool timed = seg.is_timed(count);
  count_relaxed(seg.grains_run);
  const auto start = timed ? thread_time() : std::chrono::steady_clock::time_point{};
  while (g.unit < seg.code.end)
    if (!run_chain(seg, g, count)) run_next(seg, g, count);
  if (timed) seg.learn(nanoseconds_since(start) / count);
  end_short(s, begin, begin + count, g.some_ended || !code_.has_result);
  return true;
}

/// Behind the last unit of a grain that had all tickets.
template <class T>
inline void basic_grain_runner<T>::end_short(std::size_t s, sequence begin, sequence end, bool some_silent) noexcept {
  segment& seg = segments_[s];
  seg.pass_tickets(end);
  if (finish(s, begin, end, some_silent)) wake_next(s);
  if (seg.deposited.load() != 0) wake();  // who came meanwhile found the tickets taken
}

template <class T>
inline chain_call basic_grain_runner<T>::call_of_chain(std::size_t u, std::byte* memory, std::size_t at,
                                                       std::size_t count, const std::byte* row) {
  return {.paths = &paths_[u],
          .memory = memory,
          .slot = at,
          .inputs = paths_[u].borrows && row == nullptr ? &ring_.input[at] : nullptr,
          .row = row,
          .state = &ring_.state[at],
          .error = &ring_.error[at],
          .count = count,
          .lost_some = false,
          .end = &end_of_items_};
}

/// The units of a chain that begins here, if there is one.
template <class T>
inline bool basic_grain_runner<T>::run_chain(segment& seg, grain& g, std::size_t count) noexcept {
  if (!is_chained_[g.unit] || g.some_ended || cancelled_.load(std::memory_order_relaxed)) return false;
  const program_unit& unit = code_.units[g.unit];
  const bool begins_in_row = g.unit == 0 && row_.first != nullptr;
  chain_call call = call_of_chain(g.unit, g.memory, g.slot, count, begins_in_row ? in_row(g.begin) : nullptr);
  unit.chain(call);
  if (call.lost_some) [[unlikely]] {
    g.some_ended = true;
    settle_lost(seg, g, unit, 0, call.count);
  }
  if (call.count != count) [[unlikely]] {
    g.some_ended = true;
    cancel_items(seg, g, unit, call.count, count - call.count);
  }
  g.unit = unit.chain_end;
  return true;
}

template <class T>
inline void basic_grain_runner<T>::run(std::size_t s, grain& first) noexcept {
  int swaps = 0;
  for (grain* g = &first; g != nullptr;) g = run_until_deposited(s, *g, swaps);
}

/// The next unit of a grain; or the next few, item by item.
template <class T>
inline void basic_grain_runner<T>::run_next(segment& seg, grain& g, std::size_t count) noexcept {
  const program_unit& unit = code_.units[g.unit];
  if (!unit.item_by_item) return run_unit(seg, g, g.unit++, 0, count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t u = g.unit; u < unit.group_end; ++u) run_unit(seg, g, u, i, 1);
  g.unit = unit.group_end;
}

/// Runs a grain to the end of its segment, or to where it is deposited. A grain that waits for the ticket just released
/// is returned, to be run instead: the stage that others wait for goes on at once, where its state is in cache.
template <class T>
inline grain* basic_grain_runner<T>::run_until_deposited(std::size_t s, grain& g, int& swaps) noexcept {
  segment& seg = segments_[s];
  const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
  const std::size_t count = static_cast<std::size_t>(g.end - g.begin);
  const bool timed = count_relaxed(seg.grains_run) % segment::timed_every == 0 || ns > always_timed_ns || ns == 0;
  const bool whole = g.unit == seg.code.first;
  const auto start = timed && whole ? thread_time() : std::chrono::steady_clock::time_point{};
  meter::turn turn(measuring());
  g.watch.runs(turn, s, g.unit, g.begin, count, ns * count);

  grain* waiting = nullptr;
  while (g.unit < seg.code.end) {
    const program_unit& unit = code_.units[g.unit];
    if (unit.serial && !admitted(seg, g, unit)) return nullptr;
    if (g.watch.was_left()) g.watch.runs(turn, s, g.unit, g.begin, count, 0);  // and taken back
    if (unit.fork != nullptr && may_run_branches(g, *unit.fork)) {
      if (!branches_->run(*this, seg, g)) return nullptr;
      continue;
    }
    run_next(seg, g, count);
    if (unit.serial) {
      // Cheap grains do without the order between this store and the look at what is deposited. A grain deposited at
      // this very moment may be missed here then, but not by the one who left it, nor by us behind this grain.
      atomic<sequence>& next = seg.tickets[unit.ticket].next;
      if (settings_.latest_only || ns >= segment::cheap_item_ns)
        next.store(g.end);
      else
        next.store(g.end, std::memory_order_release);
      if (settings_.latest_only) wake();  // now another may be begun
      if (seg.deposited.load(std::memory_order_relaxed) != 0) {
        // A calling thread that helps has to come back to its own work some time.
        const bool may_swap = ns * count * static_cast<std::size_t>(swaps + 1) <= most_ns_to_swap;
        if (may_swap) waiting = seg.resume(&next);
        if (waiting != nullptr) ++swaps;
        if (waiting != nullptr && g.unit < seg.code.end) {
          deposit(seg, g);
          wake();
          return waiting;
        }
        if (!may_swap) wake();
      }
    }
  }
  if (timed && whole) {
    const std::uint64_t took = nanoseconds_since(start);
    seg.learn((took - std::min(took, g.waited_ns)) / count);
  }
  const sequence begin = g.begin, end = g.end;
  const bool silent = g.some_ended || !code_.has_result;
  if (g.watch && s + 1 < segments_.size()) g.watch.ready(s + 1, begin, count);
  g.state.store(grain_state::free, std::memory_order_release);
  if (finish(s, begin, end, silent)) wake_next(s);
  return waiting;
}

}  // namespace levada::detail
