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

/// What the grain has to wait for before that unit; null: nothing.
inline const atomic<engine::sequence>* engine::ticket_of(const segment& seg, const program_unit& unit) {
  return unit.serial ? &seg.tickets[unit.ticket].next : nullptr;
}

/// Leaves the grain for whoever comes when its next unit admits it.
inline void engine::deposit(segment& seg, grain& g) { seg.deposit(g, ticket_of(seg, code_.units[g.unit])); }

/// Waits shortly for the ticket, where there is nothing better to do; else deposits the grain.
inline bool engine::admitted(segment& seg, grain& g, const program_unit& unit) {
  atomic<sequence>& next = seg.tickets[unit.ticket].next;
  if (next.load(std::memory_order_acquire) == g.begin) return true;
  if (concurrency_limit_.count() > 1 && (seg.deposited.load() == 0 || !seg.has_deposited_at(next))) {
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
        if (seg.deposited.load() != 0 && seg.has_admitted_grain()) break;  // better than to wait
      }
    } while (waited < ticket_spin_ns);
  }
  const sequence begin = g.begin;
  const grain_state deposited = seg.deposit(g, &next);
  // The ticket may have come just before others could see the grain: then nobody else takes it up.
  return next.load() == begin && seg.take_up(g, deposited);
}

}  // namespace levada::detail
