// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/claim_grains.hpp: the part of the engine that takes what waits as grains, and brings workers where
// that pays.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/engine.hpp>

namespace levada::detail {

inline grain* engine::claim(std::size_t s) {
  segment& seg = segments_[s];
  if (arrived(s) <= seg.claimed.load(std::memory_order_relaxed) || is_backed_up(seg)) return nullptr;
  const claimed_items mine =
      seg.claim([&] { return arrived(s); },
                [&](sequence begin, sequence waiting) { return count_of_grain(seg, begin, waiting); });
  if (mine.by == nullptr) return nullptr;
  begin_grain(s, *mine.by, mine.begin, mine.count);
  if (s == 0 && row_.first != nullptr) place_from_row(*mine.by);
  invite_if_it_pays();
  return mine.by;
}

/// How many items the next grain has.
inline engine::sequence engine::count_of_grain(const segment& seg, sequence begin, sequence waiting) const {
  const std::size_t at = ring_.index(begin);
  const sequence count =
      std::min({share_of(seg, waiting), static_cast<sequence>(seg.limit.load(std::memory_order_relaxed)),
                static_cast<sequence>(ring_.slots - at)});
  if (versions_) [[unlikely]]
    return of_one_version(at, count);
  return count;
}

/// How many of those that wait one thread takes: an equal share where others are at work; of the last, fewer and fewer,
/// so that no other is left with nothing to do, as long as they are worth a grain. (Guided self-scheduling:
/// Polychronopoulos and Kuck, IEEE Trans. Computers, 1987.)
inline engine::sequence engine::share_of(const segment& seg, sequence waiting) const {
  const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
  const bool are_last = closed_.load(std::memory_order_relaxed);
  if (ns == 0 || (!are_last && !is_shared()) || seg.is_cheap()) return waiting;
  const sequence shares = (are_last ? 4 : 1) * static_cast<sequence>(concurrency_limit_.count());
  return std::min(waiting, std::max<sequence>(waiting / shares, 1 + worth_a_grain_ns / ns));
}

/// What was claimed becomes a grain.
inline void engine::begin_grain(std::size_t s, grain& g, sequence begin, sequence count) {
  const std::size_t at = ring_.index(begin);
  g.begin_at(begin, begin + count, at, segments_[s].code.first);
  g.some_ended = (s != 0 || some_come_failed_.load(std::memory_order_relaxed)) && ring_.some_ended(at, count);
  if (is_shared()) fetch(segments_[s], g);
}

/// As many grains wait at tickets as there are threads: another one would only wait, too.
inline bool engine::is_backed_up(const segment& seg) const {
  if (settings_.latest_only && &seg == &segments_.front()) return would_wait_inside();
  return seg.deposited.load(std::memory_order_relaxed) >= static_cast<std::uint32_t>(concurrency_limit_.count());
}

/// An item that was begun can no longer give way to a newer one: it is begun when every serial stage could take it at
/// once, and no device has more than one before it.
inline bool engine::would_wait_inside() const {
  const sequence begin = segments_.front().claimed.load();
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const segment& seg = segments_[s];
    if (devices_.has(s) && begin > seg.finished.load() + 1) return true;
    for (const ticket& t : seg.tickets)
      if (!devices_.has(s) && t.next.load(std::memory_order_relaxed) < begin) return true;
  }
  return false;
}

/// The items were made on another processor: all of them are asked for at once, not one after the other.
inline void engine::fetch(const segment& seg, const grain& g) const {
  if (seg.code.first == seg.code.end) return;
  const program_unit& first = code_.units[seg.code.first];
  const std::size_t count = static_cast<std::size_t>(g.end - g.begin);
  if (is_borrowed(first.in)) {
    if (row_.first == nullptr)  // else side by side, and not noted yet
      for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(borrowed(first.in, g.slot + i));
  } else if (code_.values[first.in].where == placement::slot) {
    const std::byte* const from = ring_.slot(g.slot) + code_.values[first.in].offset;
    for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(from + i * ring_.slot_bytes, 1);
  }
}

/// A worker is brought where the waiting work is worth two wake-ups.
inline void engine::invite_if_it_pays() noexcept {
  if (segments_.size() == 1 && segments_.front().is_cheap()) return;
  if (waker_.has_workers(most_workers()) || !concurrency_limit_.available()) return;
  const sequence waiting =
      ring_.pushed.load(std::memory_order_relaxed) - segments_.front().claimed.load(std::memory_order_relaxed);
  if (segments_.size() == 1 && waker_.is_for_parked(waiting)) return;
  if (waiting_ns() >= worth_a_worker_ns) waker_.invite();
}

/// More threads than processors are of use where stages wait for something. Else whoever holds what others want loses
/// its processor to them.
inline int engine::most_workers() const {
  if (concurrency_limit_.computing_workers() == concurrency_limit_.workers()) return concurrency_limit_.workers();
  for (const segment& seg : segments_) {
    const std::uint64_t ns = seg.item_ns.load(std::memory_order_relaxed);
    if (ns == 0 || ns > computing_unit_ns * (seg.code.end - seg.code.first)) return concurrency_limit_.workers();
  }
  return concurrency_limit_.computing_workers();
}

/// The work that waits, as far as it is worth sharing: items that take less than their way to another processor are
/// not.
inline std::uint64_t engine::waiting_ns() const {
  std::uint64_t all = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const segment& seg = segments_[s];
    if (devices_.has(s)) continue;
    const sequence claimed = seg.claimed.load(std::memory_order_relaxed), there = arrived(s);
    if (there <= claimed) continue;
    const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
    if (!seg.is_cheap()) all += (there - claimed) * (ns == 0 ? unknown_item_ns : ns);
  }
  return all;
}

}  // namespace levada::detail
