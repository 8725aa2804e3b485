// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/run_grains.hpp: the part of the engine that runs a grain through the units of its segment.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// Takes a permit, and with it the lone item that waits where nothing else is in flight or waits to be popped and no
/// worker is awake, in a segment that is one chain. False: it goes the ways of all items.
inline bool engine::claim_single_item() noexcept {
  bool permitted;
  const bool claims = sole_.claim(concurrency_limit_, segments_.front().claimed, ring_.head, permitted,
                                  [&] { return is_single_item_ready(); });
  if (permitted && !claims) give_back_single_item();
  return claims;
}

inline bool engine::is_single_item_ready() const noexcept {
  const segment& seg = segments_.front();
  const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
  return ns != 0 && ns < worth_a_worker_ns && seg.finished.load() == ring_.head && ring_.popped.load() == ring_.head &&
         !some_come_failed_.load(std::memory_order_relaxed) && !is_shared() && !cancelled_.load() && !measuring();
}

/// Runs the item that was claimed so. A value stays with the caller, the popper, until `leave_single_item`. False: it
/// has failed and waits to be popped.
inline bool engine::run_single_item() noexcept {
  segment& seg = segments_.front();
  const bool timed = seg.is_timed(1);
  count_relaxed(seg.grains_run);
  grain& g = seg.grains.front();
  const auto start = timed ? thread_time() : std::chrono::steady_clock::time_point{};
  for (std::size_t u = 0; u != seg.code.end; u = code_.units[u].chain_end) {
    chain_call call = call_of_chain(u, g.memory, ring_.head_index, 1);
    code_.units[u].chain_one(call);
    if (call.lost_some) [[unlikely]] {
      lose_single_item(seg, g, u);
      return false;
    }
  }
  if (timed) seg.learn(nanoseconds_since(start));
  // Once: whoever is admitted by them moves them on.
  seg.pass_tickets(ring_.head + 1);
  return true;
}

/// It ended in the chain that begins at `u`: the others hear of it, and it waits to be popped if it has failed.
inline void engine::lose_single_item(segment& seg, grain& g, std::size_t u) noexcept {
  const program_unit& chain = code_.units[u];
  const sequence begin = ring_.head;
  g.begin_at(begin, begin + 1, ring_.head_index, chain.chain_end);
  g.some_ended = true;
  settle_lost(seg, g, chain, 0, 1);
  while (g.unit < seg.code.end) run_next(seg, g, 1);
  end_short(0, begin, begin + 1, true);
}

/// Gives back the permit of the lone item. Says whether anybody may wait for it, or for what was done before.
inline bool engine::release_single_item() noexcept {
  return sole_.release(concurrency_limit_, [&] { return is_shared(); });
}

inline void engine::give_back_single_item() noexcept {
  if (release_single_item()) waker_.tell_parked();
}

/// The value of a lone item was popped. Gives back the permit that it was run with.
inline void engine::leave_single_item() noexcept {
  segment& seg = segments_.front();
  ring_.advance_head();
  const sequence end = ring_.known_finished = ring_.head;
  tally_.count_by_popper(tally_.delivered);
  // One locked operation for these and the permit: who looks at any of them behind a sequentially consistent one of its
  // own sees them, or is seen below.
  seg.finished.store(end, std::memory_order_release);
  ring_.popped.store(end, std::memory_order_release);
  if (!release_single_item()) return;
  // Others may have begun what came meanwhile.
  sequence frontier = end;
  if (seg.claimed.load() != end && seg.follow_stamps(ring_, frontier)) pass_over();
  hint();
  if (seg.deposited.load() != 0)
    wake();
  else
    waker_.tell_parked();  // room, and a permit
}

/// A grain of items so cheap that nobody would gain by a stage that it is through with, where nothing is before it:
/// every ticket has come to it, and goes on at its end. Says whether there was one.
inline bool engine::run_short(std::size_t s) noexcept {
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
inline void engine::end_short(std::size_t s, sequence begin, sequence end, bool some_silent) noexcept {
  segment& seg = segments_[s];
  seg.pass_tickets(end);
  if (finish(s, begin, end, some_silent)) wake_next(s);
  if (seg.deposited.load() != 0) wake();  // who came meanwhile found the tickets taken
}

inline chain_call engine::call_of_chain(std::size_t u, std::byte* memory, std::size_t at, std::size_t count,
                                        const std::byte* row) {
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

/// Items of the row that a grain begins with.
inline void engine::place_from_row(const grain& g) {
  row_.place(in_row(g.begin), ring_.row_from(g.slot, code_.values[0].offset),
             static_cast<std::size_t>(g.end - g.begin));
}

/// The units of a chain that begins here, if there is one.
inline bool engine::run_chain(segment& seg, grain& g, std::size_t count) noexcept {
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

inline void engine::run(std::size_t s, grain& first) noexcept {
  int swaps = 0;
  for (grain* g = &first; g != nullptr;) g = run_until_deposited(s, *g, swaps);
}

/// The next unit of a grain; or the next few, item by item.
inline void engine::run_next(segment& seg, grain& g, std::size_t count) noexcept {
  const program_unit& unit = code_.units[g.unit];
  if (!unit.item_by_item) return run_unit(seg, g, g.unit++, 0, count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t u = g.unit; u < unit.group_end; ++u) run_unit(seg, g, u, i, 1);
  g.unit = unit.group_end;
}

/// Runs a grain to the end of its segment, or to where it is deposited. A grain that waits for the ticket just released
/// is returned, to be run instead: the stage that others wait for goes on at once, where its state is in cache.
inline grain* engine::run_until_deposited(std::size_t s, grain& g, int& swaps) noexcept {
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
    if (unit.fork != nullptr && may_run_branches(g)) {
      if (!run_branches(seg, g)) return nullptr;
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
