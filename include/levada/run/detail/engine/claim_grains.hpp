// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/engine/claim_grains.hpp: what waits before a segment is taken as grains.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <levada/run/detail/engine/report_devices.hpp>
#include <levada/run/detail/workers/permits.hpp>

namespace levada::detail {

/// Claims items, and makes grains of them.
template <class = void>
class basic_grain_claimer : public device_reporter {
 protected:
  using device_reporter::device_reporter;

  grain* claim(std::size_t s);
  sequence count_of_grain(const segment& seg, sequence begin, sequence waiting) const;
  sequence share_of(const segment& seg, sequence waiting) const;
  void begin_grain(std::size_t s, grain& g, sequence begin, sequence count);
  void fetch(const segment& seg, const grain& g) const;
  const std::byte* in_row(sequence item) const { return row_.first + (item - first_) * row_.bytes; }
  void place_from_row(const grain& g);

  /// How many of those items are of one version.
  sequence of_one_version(std::size_t at, sequence count) const {
    sequence n = 1;
    while (n < count && objects_[at + n] == objects_[at]) ++n;
    return n;
  }

  static constexpr std::uint64_t worth_a_grain_ns = 2'000;
};
using grain_claimer = basic_grain_claimer<>;

template <class T>
inline grain* basic_grain_claimer<T>::claim(std::size_t s) {
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
template <class T>
inline grain_claimer::sequence basic_grain_claimer<T>::count_of_grain(const segment& seg, sequence begin,
                                                                      sequence waiting) const {
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
template <class T>
inline grain_claimer::sequence basic_grain_claimer<T>::share_of(const segment& seg, sequence waiting) const {
  const std::uint32_t ns = seg.item_ns.load(std::memory_order_relaxed);
  const bool are_last = closed_.load(std::memory_order_relaxed);
  if (ns == 0 || (!are_last && !is_shared()) || seg.is_cheap()) return waiting;
  const sequence shares = (are_last ? 4 : 1) * static_cast<sequence>(concurrency_limit_.count());
  return std::min(waiting, std::max<sequence>(waiting / shares, 1 + worth_a_grain_ns / ns));
}

/// What was claimed becomes a grain.
template <class T>
inline void basic_grain_claimer<T>::begin_grain(std::size_t s, grain& g, sequence begin, sequence count) {
  const std::size_t at = ring_.index(begin);
  g.begin_at(begin, begin + count, at, segments_[s].code.first);
  g.some_ended = (s != 0 || some_come_failed_.load(std::memory_order_relaxed)) && ring_.some_ended(at, count);
  if (is_shared()) fetch(segments_[s], g);
}

/// The items were made on another processor: all of them are asked for at once, not one after the other.
template <class T>
inline void basic_grain_claimer<T>::fetch(const segment& seg, const grain& g) const {
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

/// Items of the row that a grain begins with.
template <class T>
inline void basic_grain_claimer<T>::place_from_row(const grain& g) {
  row_.place(in_row(g.begin), ring_.row_from(g.slot, code_.values[0].offset),
             static_cast<std::size_t>(g.end - g.begin));
}

}  // namespace levada::detail
