// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/deposit_grains.hpp: the part of the engine that leaves a grain whose ticket is taken, and takes up one that is admitted.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <levada/run/engine.hpp>

namespace levada::detail {

/// The ticket of that grain has come to it. Seen from outside: true of a deposited grain at some moment.
inline bool engine::is_admitted(const grain& g) {
  return g.state.load() == grain_state::deposited &&
         g.ticket.load(std::memory_order_relaxed)->load() == g.first.load(std::memory_order_relaxed);
}

inline bool engine::has_admitted_grain(const segment& seg) {
  for (const grain& g : seg.grains)
    if (is_admitted(g)) return true;
  return false;
}

/// A deposited grain that is admitted now; only one at ticket `at`, where that is given.
inline engine::grain* engine::resume(segment& seg, const std::atomic<sequence>* at) {
  if (seg.deposited.load() == 0) return nullptr;
  for (grain& g : seg.grains) {
    grain_state expected = grain_state::deposited;
    if (!is_admitted(g) || (at != nullptr && g.ticket.load(std::memory_order_relaxed) != at) ||
        !g.state.compare_exchange_strong(expected, grain_state::running))
      continue;
    const program_unit& unit = code_.units[g.unit];
    if (!unit.serial || seg.tickets[unit.ticket].next.load() == g.begin) {
      seg.deposited.fetch_sub(1);
      return &g;
    }
    g.state.store(grain_state::deposited);  // by now it was another one
  }
  return nullptr;
}

/// Leaves the grain for whoever comes when its next unit admits it.
inline void engine::deposit(segment& seg, grain& g) {
  const program_unit& unit = code_.units[g.unit];
  g.always.store(g.begin, std::memory_order_relaxed);
  g.ticket.store(unit.serial ? &seg.tickets[unit.ticket].next : &g.always, std::memory_order_relaxed);
  g.first.store(g.begin, std::memory_order_relaxed);
  g.watch.deposited();
  seg.deposited.fetch_add(1);
  g.state.store(grain_state::deposited);
}

inline bool engine::has_deposited_at(const segment& seg, const std::atomic<sequence>& next) {
  for (const grain& g : seg.grains)
    if (g.state.load(std::memory_order_relaxed) == grain_state::deposited &&
        g.ticket.load(std::memory_order_relaxed) == &next)
      return true;
  return false;
}

/// Waits shortly for the ticket, where there is nothing better to do; else deposits the grain.
inline bool engine::admitted(segment& seg, grain& g, const program_unit& unit) {
  std::atomic<sequence>& next = seg.tickets[unit.ticket].next;
  if (next.load(std::memory_order_acquire) == g.begin) return true;
  if (crew_.count() > 1 && (seg.deposited.load() == 0 || !has_deposited_at(seg, next))) {
    const auto start = std::chrono::steady_clock::now();
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
  deposit(seg, g);
  // The ticket may have come just before others could see the grain: then nobody else takes it up.
  grain_state expected = grain_state::deposited;
  if (next.load() != begin || !g.state.compare_exchange_strong(expected, grain_state::running)) return false;
  if (g.begin != begin) {  // it was run by others to its end meanwhile, and is another one
    g.state.store(grain_state::deposited);
    return false;
  }
  seg.deposited.fetch_sub(1);
  return true;
}

}  // namespace levada::detail
