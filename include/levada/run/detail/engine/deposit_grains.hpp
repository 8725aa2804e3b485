// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/deposit_grains.hpp: the part of the engine that leaves a grain whose ticket is taken, and takes up
// one that is admitted.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/engine.hpp>
#include <levada/run/detail/workers/threading.hpp>

namespace levada::detail {

/// The grain is deposited, as `seen` says, and its ticket has come to it. That stays so until the deposit is taken up:
/// only who has the grain moves the ticket on. Where it was taken up meanwhile this may be about another deposit, and
/// `take_up` fails.
inline bool engine::is_admitted(const grain& g, grain_state seen) {
  return is_deposited(seen) &&
         g.ticket.load(std::memory_order_relaxed)->load() == g.first.load(std::memory_order_relaxed);
}

inline bool engine::has_admitted_grain(const segment& seg) {
  for (const grain& g : seg.grains)
    if (is_admitted(g, g.state.load())) return true;
  return false;
}

/// Takes up that very deposit; false: somebody else did.
inline bool engine::take_up(segment& seg, grain& g, grain_state seen) {
  if (!g.state.compare_exchange_strong(seen, grain_state::running)) return false;
  seg.deposited.fetch_sub(1);
  return true;
}

/// A deposited grain that is admitted now; only one at ticket `at`, where that is given.
inline engine::grain* engine::resume(segment& seg, const atomic<sequence>* at) {
  if (seg.deposited.load() == 0) return nullptr;
  for (grain& g : seg.grains) {
    const grain_state seen = g.state.load();
    if (is_admitted(g, seen) && (at == nullptr || g.ticket.load(std::memory_order_relaxed) == at) &&
        take_up(seg, g, seen))
      return &g;
  }
  return nullptr;
}

/// Leaves the grain for whoever comes when its next unit admits it. Says which deposit it is.
inline engine::grain_state engine::deposit(segment& seg, grain& g) {
  const program_unit& unit = code_.units[g.unit];
  g.always.store(g.begin, std::memory_order_relaxed);
  g.ticket.store(unit.serial ? &seg.tickets[unit.ticket].next : &g.always, std::memory_order_relaxed);
  g.first.store(g.begin, std::memory_order_relaxed);
  g.watch.deposited();
  const grain_state deposited = g.next_deposit;
  g.next_deposit = static_cast<grain_state>(static_cast<std::uint64_t>(deposited) + 1);
  seg.deposited.fetch_add(1);
  g.state.store(deposited);
  return deposited;
}

inline bool engine::has_deposited_at(const segment& seg, const atomic<sequence>& next) {
  for (const grain& g : seg.grains)
    if (is_deposited(g.state.load(std::memory_order_relaxed)) && g.ticket.load(std::memory_order_relaxed) == &next)
      return true;
  return false;
}

/// Waits shortly for the ticket, where there is nothing better to do; else deposits the grain.
inline bool engine::admitted(segment& seg, grain& g, const program_unit& unit) {
  atomic<sequence>& next = seg.tickets[unit.ticket].next;
  if (next.load(std::memory_order_acquire) == g.begin) return true;
  if (concurrency_limit_.count() > 1 && (seg.deposited.load() == 0 || !has_deposited_at(seg, next))) {
    const auto start = thread_time();
    std::uint64_t waited = 0;
    std::uint32_t seen = hints();
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
      if (hints() != seen) {
        seen = hints();
        if (seg.deposited.load() != 0 && has_admitted_grain(seg)) break;  // better than to wait
      }
    } while (waited < ticket_spin_ns);
  }
  const sequence begin = g.begin;
  const grain_state deposited = deposit(seg, g);
  // The ticket may have come just before others could see the grain: then nobody else takes it up.
  return next.load() == begin && take_up(seg, g, deposited);
}

}  // namespace levada::detail
