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
#include <span>
#include <vector>

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

/// The buffers that are alive with each. Few are alive at a step, and placing a buffer looks at these alone: a search
/// places all of them many times.
template <std::size_t N>
class buffer_conflicts {
 public:
  constexpr explicit buffer_conflicts(const bounded<buffer_lifetime, N>& buffers) {
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      begin_[b] = pairs_.size();
      for (std::size_t other = 0; other < buffers.size(); ++other)
        if (other != b && alive_together(buffers[b], buffers[other])) pairs_.push_back(other);
    }
    begin_[buffers.size()] = pairs_.size();
  }

  constexpr std::span<const std::size_t> of(std::size_t b) const {
    return {pairs_.data() + begin_[b], begin_[b + 1] - begin_[b]};
  }

 private:
  std::vector<std::size_t> pairs_;
  std::array<std::size_t, N + 1> begin_{};
};

/// Each buffer in turn at the lowest offset where it meets none that is alive with it.
template <std::size_t N>
constexpr memory_layout<N> place_in_order(const bounded<buffer_lifetime, N>& buffers,
                                          const buffer_conflicts<N>& conflicts, const placement_order<N>& order) {
  memory_layout<N> layout;
  std::array<bool, N> placed{};
  placement_order<N> beside;  // by offset
  for (const std::size_t b : order) {
    beside.clear();
    for (const std::size_t other : conflicts.of(b)) {
      if (!placed[other]) continue;
      beside.push_back(other);
      for (std::size_t i = beside.size() - 1; i > 0 && layout.offset[beside[i - 1]] > layout.offset[other]; --i)
        detail::swap_values(beside[i], beside[i - 1]);
    }
    std::size_t at = 0;
    for (const std::size_t p : beside) {
      if (at + buffers[b].bytes <= layout.offset[p]) break;
      at = std::max(at, aligned(layout.offset[p] + buffers[p].bytes, buffers[b].alignment));
    }
    layout.offset[b] = at;
    layout.bytes = std::max(layout.bytes, at + buffers[b].bytes);
    placed[b] = true;
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
  placement_order<N> inside;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const buffer_lifetime& b = buffers[i];
    if (b.branch.fork != fork) continue;
    begin = std::min(begin, b.first), end = std::max(end, b.first);
    inside.push_back(i);
  }
  for (const buffer_lifetime& b : buffers)
    if (b.branch.fork != fork && b.first <= begin && b.last >= end) sum += b.bytes;
  std::array<std::size_t, most_branches> most{};
  for (const std::size_t i : inside) {
    const buffer_lifetime& at = buffers[i];
    std::size_t alive = 0;
    for (const std::size_t other : inside) {
      const buffer_lifetime& b = buffers[other];
      if (b.branch == at.branch && b.first <= at.first && b.last >= at.first) alive += b.bytes;
    }
    std::size_t& of_branch = most[at.branch.branch];
    of_branch = std::max(of_branch, alive);
  }
  for (const std::size_t bytes : most) sum += bytes;
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
  std::size_t looked_at = ~std::size_t{0};  // the buffers of a fork stand together
  for (const buffer_lifetime& b : buffers) {
    if (!b.branch || b.branch.fork == looked_at) continue;
    looked_at = b.branch.fork;
    bound = std::max(bound, detail::most_in_branches(buffers, looked_at));
  }
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

/// In the order in which they begin, each at the lowest offset that those alive then leave: in so many steps as there
/// are buffers and others alive with them, where the orders below take the square. Nothing where branches run at once.
template <std::size_t N>
constexpr std::optional<memory_layout<N>> as_they_begin(const bounded<buffer_lifetime, N>& buffers) {
  for (const buffer_lifetime& b : buffers)
    if (b.branch) return std::nullopt;
  memory_layout<N> layout;
  placement_order<N> alive;  // by offset
  for (const std::size_t next : detail::by_first_step(buffers)) {
    std::size_t at = 0, before = 0, kept = 0;
    bool fits = false;
    for (const std::size_t b : alive) {
      if (buffers[b].last < buffers[next].first) continue;
      fits = fits || at + buffers[next].bytes <= layout.offset[b];
      if (!fits) {
        at = std::max(at, detail::aligned(layout.offset[b] + buffers[b].bytes, buffers[next].alignment));
        before = kept + 1;
      }
      alive[kept++] = b;
    }
    alive.resize(kept);
    alive.push_back(next);
    for (std::size_t i = kept; i > before; --i) std::swap(alive[i], alive[i - 1]);
    layout.offset[next] = at;
    layout.bytes = std::max(layout.bytes, at + buffers[next].bytes);
  }
  layout.bytes = detail::aligned(layout.bytes, detail::strictest_alignment(buffers));
  return layout;
}

/// Largest buffers first.
template <std::size_t N>
constexpr memory_layout<N> greedy_by_size(const bounded<buffer_lifetime, N>& buffers,
                                          const detail::buffer_conflicts<N>& conflicts) {
  return detail::place_in_order(buffers, conflicts,
                                detail::largest_first(buffers, [&](std::size_t i) { return buffers[i].bytes; }));
}
template <std::size_t N>
constexpr memory_layout<N> greedy_by_size(const bounded<buffer_lifetime, N>& buffers) {
  return greedy_by_size(buffers, detail::buffer_conflicts(buffers));
}

/// Buffers that are alive with most others first, the larger of equals.
template <std::size_t N>
constexpr memory_layout<N> greedy_by_conflicts(const bounded<buffer_lifetime, N>& buffers,
                                               const detail::buffer_conflicts<N>& conflicts) {
  const auto with_others = [&](std::size_t i) { return conflicts.of(i).size(); };
  return detail::place_in_order(buffers, conflicts, detail::largest_first(buffers, with_others));
}
template <std::size_t N>
constexpr memory_layout<N> greedy_by_conflicts(const bounded<buffer_lifetime, N>& buffers) {
  return greedy_by_conflicts(buffers, detail::buffer_conflicts(buffers));
}

/// From the order by size, swaps of two buffers that do not make the arena larger; deterministic, at most `attempts`
/// swaps.
template <std::size_t N>
constexpr memory_layout<N> hill_climbing(const bounded<buffer_lifetime, N>& buffers,
                                         const detail::buffer_conflicts<N>& conflicts, std::size_t attempts = 64) {
  placement_order<N> order = detail::largest_first(buffers, [&](std::size_t i) { return buffers[i].bytes; });
  memory_layout<N> best = detail::place_in_order(buffers, conflicts, order);
  const std::size_t bound = memory_lower_bound(buffers), count = buffers.size();
  std::size_t random = 1;
  const auto draw = [&] { return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33; };
  for (std::size_t i = 0; count > 1 && i < attempts && best.bytes > bound; ++i) {
    const std::size_t a = draw() % count, b = draw() % count;
    detail::swap_values(order[a], order[b]);
    const memory_layout<N> tried = detail::place_in_order(buffers, conflicts, order);
    if (tried.bytes <= best.bytes)
      best = tried;
    else
      detail::swap_values(order[a], order[b]);
  }
  return best;
}

template <std::size_t N>
constexpr memory_layout<N> hill_climbing(const bounded<buffer_lifetime, N>& buffers) {
  return hill_climbing(buffers, detail::buffer_conflicts(buffers));
}

/// The smallest arena found.
template <std::size_t N>
constexpr memory_layout<N> lay_out(const bounded<buffer_lifetime, N>& buffers) {
  if (const auto layout = from_both_ends(buffers)) return *layout;
  const std::size_t bound = memory_lower_bound(buffers);
  if (const auto layout = as_they_begin(buffers); layout && layout->bytes == bound) return *layout;
  const detail::buffer_conflicts<N> conflicts(buffers);
  memory_layout<N> best = greedy_by_size(buffers, conflicts);
  if (best.bytes > bound)
    if (const memory_layout<N> other = greedy_by_conflicts(buffers, conflicts); other.bytes < best.bytes) best = other;
  if (best.bytes > bound)
    if (const memory_layout<N> other = hill_climbing(buffers, conflicts); other.bytes < best.bytes) best = other;
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
