// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/memory.hpp: offsets of buffers in one arena, so that buffers that are never alive together share bytes.
// The buffers of a line need no search: from both ends of the arena in turn is optimal. For others several well-known
// orders of first-fit placement are tried and the smallest arena wins (static memory planning as in TVM's USMP, RFC 9:
// greedy by size, greedy by conflicts, hill climbing).

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include <levada/core/detail/bounded.hpp>
#include <levada/core/detail/exchange.hpp>
#include <levada/plan/detail/branches.hpp>

namespace levada {

/// A buffer to place: its size, and the first and last step at which it is alive, both inclusive. Where branches run at
/// once, those of the others are alive with it whatever their steps.
struct buffer_lifetime {
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  std::size_t first = 0;
  std::size_t last = 0;
  branch_place branch{};
};

constexpr bool alive_together(const buffer_lifetime& a, const buffer_lifetime& b) {
  return (a.first <= b.last && b.first <= a.last) || run_at_once(a.branch, b.branch);
}

/// Offsets in the order of the buffers, and the bytes of the arena: a multiple of the strictest alignment, so that
/// arenas can stand in a row.
template <std::size_t N>
struct memory_layout {
  std::array<std::size_t, N> offset{};
  std::size_t bytes = 0;
};

/// An order in which buffers are placed: indices into their list.
template <std::size_t N>
using placement_order = bounded<std::size_t, N>;

namespace detail {

constexpr std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

template <std::size_t N>
constexpr std::size_t strictest_alignment(const bounded<buffer_lifetime, N>& buffers) {
  std::size_t strictest = 1;
  for (const buffer_lifetime& b : buffers) strictest = std::max(strictest, b.alignment);
  return strictest;
}

/// Each buffer in turn at the lowest offset where it meets none that is alive with it.
template <std::size_t N>
constexpr memory_layout<N> place_in_order(const bounded<buffer_lifetime, N>& buffers, const placement_order<N>& order) {
  memory_layout<N> layout;
  placement_order<N> placed;  // by offset
  for (const std::size_t b : order) {
    std::size_t at = 0;
    for (const std::size_t p : placed) {
      if (!alive_together(buffers[b], buffers[p])) continue;
      if (at + buffers[b].bytes <= layout.offset[p]) break;
      at = std::max(at, aligned(layout.offset[p] + buffers[p].bytes, buffers[b].alignment));
    }
    layout.offset[b] = at;
    layout.bytes = std::max(layout.bytes, at + buffers[b].bytes);
    placed.push_back(b);
    for (std::size_t i = placed.size() - 1; i > 0 && layout.offset[placed[i - 1]] > at; --i)
      detail::swap_values(placed[i], placed[i - 1]);
  }
  layout.bytes = aligned(layout.bytes, strictest_alignment(buffers));
  return layout;
}

/// The indices below `count`, sorted by insertion: std::sort would cost each program more to instantiate than to run.
template <std::size_t N, class Before>
constexpr placement_order<N> sorted_indices(std::size_t count, Before before) {
  placement_order<N> order;
  for (std::size_t next = 0; next < count; ++next) {
    order.push_back(next);
    std::size_t at = next;
    for (; at > 0 && before(next, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = next;
  }
  return order;
}

template <std::size_t N>
constexpr placement_order<N> by_first_step(const bounded<buffer_lifetime, N>& buffers) {
  return sorted_indices<N>(buffers.size(),
                           [&](std::size_t a, std::size_t b) { return buffers[a].first < buffers[b].first; });
}

template <std::size_t N, class Key>
constexpr placement_order<N> largest_first(const bounded<buffer_lifetime, N>& buffers, Key key) {
  return sorted_indices<N>(buffers.size(), [&](std::size_t a, std::size_t b) {
    return key(a) != key(b) ? key(a) > key(b) : buffers[a].bytes > buffers[b].bytes;
  });
}

/// What the branches of a fork have alive at most, each by itself, with what is alive all the while.
template <std::size_t N>
constexpr std::size_t most_in_branches(const bounded<buffer_lifetime, N>& buffers, std::size_t fork) {
  std::size_t begin = ~std::size_t{0}, end = 0, sum = 0;
  for (const buffer_lifetime& b : buffers)
    if (b.branch.fork == fork) begin = std::min(begin, b.first), end = std::max(end, b.first);
  for (const buffer_lifetime& b : buffers)
    if (b.branch.fork != fork && b.first <= begin && b.last >= end) sum += b.bytes;
  for (std::size_t branch = 0; branch < most_branches; ++branch) {
    std::size_t most = 0;
    for (const buffer_lifetime& at : buffers) {
      if (at.branch.fork != fork || at.branch.branch != branch) continue;
      std::size_t alive = 0;
      for (const buffer_lifetime& b : buffers)
        if (b.branch == at.branch && b.first <= at.first && b.last >= at.first) alive += b.bytes;
      most = std::max(most, alive);
    }
    sum += most;
  }
  return sum;
}

}  // namespace detail

/// The largest sum of buffers that are alive at one step, rounded up as an arena is: no arena can be smaller.
template <std::size_t N>
constexpr std::size_t memory_lower_bound(const bounded<buffer_lifetime, N>& buffers) {
  std::size_t bound = 0;
  placement_order<N> alive;
  for (const std::size_t next : detail::by_first_step(buffers)) {
    std::size_t sum = buffers[next].bytes, kept = 0;
    for (const std::size_t b : alive) {
      if (buffers[b].last < buffers[next].first) continue;
      sum += buffers[b].bytes;
      alive[kept++] = b;
    }
    alive.resize(kept);
    alive.push_back(next);
    bound = std::max(bound, sum);
  }
  for (const buffer_lifetime& b : buffers)
    if (b.branch) bound = std::max(bound, detail::most_in_branches(buffers, b.branch.fork));
  return detail::aligned(bound, detail::strictest_alignment(buffers));
}

/// From the bottom and from the top of the smallest arena in turn, by first step; nothing where that does not fit. It
/// does, and no arena is smaller, where at most two buffers are alive at a step and sizes are multiples of their
/// alignments.
template <std::size_t N>
constexpr std::optional<memory_layout<N>> from_both_ends(const bounded<buffer_lifetime, N>& buffers) {
  for (const buffer_lifetime& b : buffers)
    if (b.branch) return std::nullopt;
  memory_layout<N> layout;
  layout.bytes = memory_lower_bound(buffers);
  const placement_order<N> order = detail::by_first_step(buffers);
  std::size_t at_bottom = N, at_top = N;  // the last buffer at each end
  const auto busy = [&](std::size_t end, std::size_t b) { return end != N && buffers[end].last >= buffers[b].first; };
  for (const std::size_t b : order) {
    const bool top = busy(at_bottom, b);
    const std::size_t room = layout.bytes - buffers[b].bytes;
    layout.offset[b] = top ? room / buffers[b].alignment * buffers[b].alignment : 0;
    if (top ? busy(at_top, b) || layout.offset[b] < buffers[at_bottom].bytes
            : busy(at_top, b) && buffers[b].bytes > layout.offset[at_top])
      return std::nullopt;
    (top ? at_top : at_bottom) = b;
  }
  return layout;
}

/// Largest buffers first.
template <std::size_t N>
constexpr memory_layout<N> greedy_by_size(const bounded<buffer_lifetime, N>& buffers) {
  return detail::place_in_order(buffers,
                                detail::largest_first(buffers, [&](std::size_t i) { return buffers[i].bytes; }));
}

/// Buffers that are alive with most others first, the larger of equals.
template <std::size_t N>
constexpr memory_layout<N> greedy_by_conflicts(const bounded<buffer_lifetime, N>& buffers) {
  std::array<std::size_t, N> conflicts{};
  for (std::size_t i = 0; i < buffers.size(); ++i)
    for (std::size_t j = 0; j < buffers.size(); ++j)
      conflicts[i] += i != j && alive_together(buffers[i], buffers[j]) ? 1u : 0u;
  return detail::place_in_order(buffers, detail::largest_first(buffers, [&](std::size_t i) { return conflicts[i]; }));
}

/// From the order by size, swaps of two buffers that do not make the arena larger; deterministic, at most `attempts`
/// swaps.
template <std::size_t N>
constexpr memory_layout<N> hill_climbing(const bounded<buffer_lifetime, N>& buffers, std::size_t attempts = 64) {
  placement_order<N> order = detail::largest_first(buffers, [&](std::size_t i) { return buffers[i].bytes; });
  memory_layout<N> best = detail::place_in_order(buffers, order);
  const std::size_t bound = memory_lower_bound(buffers), count = buffers.size();
  std::size_t random = 1;
  const auto draw = [&] { return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33; };
  for (std::size_t i = 0; count > 1 && i < attempts && best.bytes > bound; ++i) {
    const std::size_t a = draw() % count, b = draw() % count;
    detail::swap_values(order[a], order[b]);
    const memory_layout<N> tried = detail::place_in_order(buffers, order);
    if (tried.bytes <= best.bytes)
      best = tried;
    else
      detail::swap_values(order[a], order[b]);
  }
  return best;
}

/// The smallest arena found.
template <std::size_t N>
constexpr memory_layout<N> lay_out(const bounded<buffer_lifetime, N>& buffers) {
  if (const auto layout = from_both_ends(buffers)) return *layout;
  const std::size_t bound = memory_lower_bound(buffers);
  memory_layout<N> best = greedy_by_size(buffers);
  if (best.bytes > bound)
    if (const memory_layout<N> other = greedy_by_conflicts(buffers); other.bytes < best.bytes) best = other;
  if (best.bytes > bound)
    if (const memory_layout<N> other = hill_climbing(buffers); other.bytes < best.bytes) best = other;
  return best;
}

/// The layout if it fits into `pool` bytes, else nothing.
template <std::size_t N>
constexpr std::optional<memory_layout<N>> lay_out_within(const bounded<buffer_lifetime, N>& buffers, std::size_t pool) {
  const memory_layout<N> layout = lay_out(buffers);
  if (layout.bytes > pool) return std::nullopt;
  return layout;
}

}  // namespace levada
