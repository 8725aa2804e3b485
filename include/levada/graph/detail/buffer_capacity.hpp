// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/buffer_capacity.hpp: how large the rings are in which items of branches wait for those of others: as
// small as they can be. What a rate has given is a function of what it took, so it is counted here, item by item, until
// everything repeats itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <levada/graph/detail/rate_bounds.hpp>

namespace levada {

/// How a rate gives: whole groups of `gives` for `takes`; the first of each `takes`; windows of `size` samples, one
/// every `takes`, of chunks of `gives`.
struct rate_rule {
  enum kind_type : std::uint8_t { groups, firsts, windows } kind = groups;
  std::int64_t takes = 1, gives = 1, size = 1;
  bool short_at_end = false;

  /// How many of `n` items; `ended`: with what is given short.
  constexpr std::int64_t given(std::int64_t n, bool ended) const {
    if (kind == groups) return n / takes * gives + (ended && short_at_end && n % takes != 0 ? 1 : 0);
    if (kind == firsts) return (n + takes - 1) / takes;
    const std::int64_t samples = n * gives;
    const std::int64_t whole = samples < size ? 0 : (samples - size) / takes + 1;
    const std::int64_t had = whole == 0 ? 0 : std::max<std::int64_t>(0, size - takes);
    return whole + (ended && short_at_end && samples - whole * takes > had ? 1 : 0);
  }
  constexpr rate_bounds bounds() const {
    if (kind == groups) return bounds_of_groups(takes, gives, short_at_end);
    if (kind == firsts) return bounds_of_firsts(takes);
    return bounds_of_windows(size, takes, gives, short_at_end);
  }
};

/// A ring has `room` where each item goes through all branches before the next does, as they are run; `least` is the
/// smallest that cannot deadlock, where branches pause while their rings are full.
struct ring_size {
  std::size_t room = 1, least = 1;
  friend constexpr bool operator==(const ring_size&, const ring_size&) = default;
};

namespace detail {

/// So many items are counted; where a period takes more, a ring is as large as its bound.
inline constexpr std::int64_t most_counted = 1024;
/// In a graph the smallest rings are searched, where its items and nodes are no more than this together.
inline constexpr std::int64_t most_searched = 128;

constexpr std::int64_t counted_items(const rate_bounds& all) { return all.settled + all.period + 1; }

constexpr std::int64_t least_given(std::size_t branches, const auto& given, std::int64_t n, bool ended) {
  std::int64_t least = given(std::size_t{0}, n, ended);
  for (std::size_t b = 1; b < branches; ++b) least = std::min(least, given(b, n, ended));
  return least;
}

}  // namespace detail

/// The ring of a branch of a fork; `given(branch, n, ended)` counts. All branches take an item at once, and none the
/// next before all have given what they make of it: so what is ahead of the others between two items has to wait, and
/// nothing more.
template <class Given>
constexpr ring_size ring_of_branch(std::span<const rate_bounds> bounds, std::size_t branch, const Given& given) {
  const std::int64_t last = detail::counted_items(joined(bounds));
  const std::size_t bound = waiting_room(bounds, branch);
  if (last > detail::most_counted) return {bound, bound};
  std::int64_t room = 1, least = 1, met_before = 0;
  for (std::int64_t n = 1; n <= last; ++n) {
    const std::int64_t met = detail::least_given(bounds.size(), given, n, false), here = given(branch, n, false);
    room = std::max({room, here - met_before, given(branch, n, true) - met});
    least = std::max(least, here - met);
    met_before = met;
  }
  return {static_cast<std::size_t>(room), static_cast<std::size_t>(least)};
}

/// A graph whose nodes change their rate, as values: ports, then nodes, then the outputs as one more node that takes
/// from all. What one takes alone it takes at once; what it takes with others waits in rings.
template <std::size_t Nodes>
struct rate_network {
  static constexpr std::size_t most_joined = 8;
  struct node {
    std::size_t takes = 0;  ///< 0: a port
    std::array<std::size_t, most_joined> from{};
    bool has_rings = false;
  };
  std::array<node, Nodes> nodes{};

  using capacities = std::array<std::array<std::size_t, most_joined>, Nodes>;  ///< of the rings of each node

  /// With rings of these sizes each of `items` items goes through all nodes before the next comes. `given(node, n)`:
  /// what it makes of n items that it takes.
  template <class Given>
  constexpr bool runs(const Given& given, const capacities& room, std::int64_t items) const {
    std::array<std::int64_t, Nodes> taken{}, gave{};
    std::array<std::array<std::size_t, most_joined>, Nodes> waiting{};
    const auto made = [&](std::size_t i) { return nodes[i].takes == 0 ? items : given(i, taken[i]); };
    const auto can_give = [&](std::size_t i) {
      if (gave[i] == made(i)) return false;
      for (std::size_t to = i + 1; to < Nodes; ++to)
        for (std::size_t k = 0; k < nodes[to].takes; ++k)
          if (nodes[to].from[k] == i && (nodes[to].has_rings ? waiting[to][k] == room[to][k] : gave[to] != made(to)))
            return false;
      return true;
    };
    const auto give = [&](std::size_t i) {
      ++gave[i];
      for (std::size_t to = i + 1; to < Nodes; ++to)
        for (std::size_t k = 0; k < nodes[to].takes; ++k)
          if (nodes[to].from[k] == i)
            nodes[to].has_rings ? static_cast<void>(++waiting[to][k]) : static_cast<void>(++taken[to]);
    };
    const auto meet = [&](std::size_t i) {
      if (!nodes[i].has_rings || gave[i] != made(i)) return false;
      for (std::size_t k = 0; k < nodes[i].takes; ++k)
        if (waiting[i][k] == 0) return false;
      for (std::size_t k = 0; k < nodes[i].takes; ++k) --waiting[i][k];
      ++taken[i];
      if (i + 1 == Nodes) gave[i] = made(i);
      return true;
    };
    std::size_t ports = 0;
    while (nodes[ports].takes == 0) ++ports;
    for (std::int64_t item = 0; item < items; ++item) {
      for (std::size_t p = 0; p < ports; ++p)
        if (!can_give(p)) return false;
      for (std::size_t p = 0; p < ports; ++p) give(p);
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t i = Nodes; i-- > ports;) {
          while (meet(i)) moved = true;
          while (i + 1 < Nodes && can_give(i)) {
            give(i);
            moved = true;
          }
        }
      }
      for (std::size_t i = ports; i + 1 < Nodes; ++i)
        if (gave[i] != made(i)) return false;
    }
    return true;
  }

  /// The smallest ring `k` of a node if the others are as large as that; with these it runs.
  template <class Given>
  constexpr std::size_t smallest(const Given& given, capacities room, std::int64_t items, std::size_t at,
                                 std::size_t k) const {
    std::size_t enough = room[at][k];
    for (std::size_t low = 1; low < enough;) {
      room[at][k] = (low + enough) / 2;
      if (runs(given, room, items))
        enough = room[at][k];
      else
        low = room[at][k] + 1;
    }
    return enough;
  }
};

}  // namespace levada
