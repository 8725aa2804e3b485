// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/search.hpp: the best legal cover of a graph by offers: a shortest path over sets of covered nodes (Collage, TVM RFC 62),
// with what Collage leaves out: where each value lies that is still to be taken, what moving it takes, and what devices hold.
//
// - A step covers the next region. The first node that is not covered yet is covered by each offer that has all it takes; where
//   one waits for nodes elsewhere, these are covered first. So every cover whose regions can run one after the other is met
//   in one order or few, and no other.
// - What a cover has used up when it has come to a state is a list of amounts: seconds, or the load of each device; bytes where
//   memory is limited. Of two ways to the same state one is dropped only where it has used up at least as much of each.
// - Among equals: less of the first amount in which they differ, then the smallest sorted list of covered sets, then the
//   backend named first. Costs of the same nodes that differ by less than their spreads are as the cost of the backend named first.
// - Where costs of a node are unknown, the order of preference decides on it, then fewer regions, then what is known.
// - Not more than `beam` ways are kept for each number of covered nodes, those that promise most. The cover is exact unless that
//   left some out; then the least that any of these could have led to is its bound.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <levada/plan/node_set_list.hpp>
#include <levada/plan/placement.hpp>
#include <levada/plan/prices.hpp>

namespace levada {

/// Ways that a search keeps at once.
inline constexpr std::size_t default_beam = 4096;

namespace detail {

template <std::size_t N>
class cover_search {
 public:
  constexpr cover_search(const placement_problem<N>& problem, objective goal, std::size_t beam)
      : problem_(problem), flow_(problem.flow), price_(problem, goal), beam_(beam) {
    level_.resize(flow_.nodes + 1, none);
  }

  constexpr cover<N> best_cover() {
    start();
    for (std::size_t count = 0; count < flow_.nodes; ++count) {
      keep_beam(count);
      for (index g = level_[count]; g != none; g = groups_[g].next) expand(g);
    }
    return answer();
  }

 private:
  using index = std::uint32_t;
  using mask = std::uint8_t;  // of places
  static constexpr index none = ~index{0};
  static constexpr std::size_t input = N;  // the number of what enters the graph, among values

  /// All states that cover the same nodes, and the values that they still have to hand on.
  struct group {
    std::size_t live_begin = 0, live_count = 0;  // in live_
    index first_state = none, next = none;
  };
  /// Where each of these values lies.
  struct state {
    std::size_t masks = 0;  // in masks_
    index first_way = none, next = none;
  };
  /// How a state is reached, and what that has used up (in amounts_).
  struct way {
    index parent = none, offer = none, next = none, count = 0;
  };

  constexpr void start() {
    const node_set<N> nothing;
    covered_.add(nothing);
    group first;
    if (!flow_.takes_input.empty()) {
      live_.push_back(input);
      first.live_count = 1;
    }
    groups_.push_back(first);
    level_[0] = 0;
    masks_.push_back(price_.input_places());
    states_.push_back({0, none, none});
    groups_[0].first_state = 0;
    ways_.push_back({});
    states_[0].first_way = 0;
    amounts_.resize(price_.amounts());
  }

  constexpr void expand(index g) {
    const node_set<N> covered = covered_[g];
    const std::size_t first = covered.first_missing();
    node_set<N> awaited;
    for (const std::size_t o : price_.offers_at(first)) {
      if (problem_.offers[o].nodes.intersects(covered)) continue;
      const node_set<N> missing = price_.outer(o) - covered;
      if (missing.empty()) {
        take(g, o);
      } else {
        awaited |= missing;
        missing.for_each([&](std::size_t n) { awaited |= flow_.before[n]; });
      }
    }
    awaited -= covered;
    if (awaited.empty()) return;
    for (std::size_t n = first + 1, last = awaited.last(); n <= last; ++n)
      for (const std::size_t o : price_.offers_at(n)) {
        const node_set<N>& nodes = problem_.offers[o].nodes;
        if (nodes.intersects(awaited) && !nodes.intersects(covered) && covered.contains(price_.outer(o))) take(g, o);
      }
  }

  /// From every state of a group by one offer to the states behind it.
  constexpr void take(index g, std::size_t o) {
    const offer<N>& taken = problem_.offers[o];
    const index t = group_behind(g, taken.nodes);
    const group from = groups_[g], to = groups_[t];
    sources_.clear();
    for (std::size_t j = 0; j < to.live_count; ++j) {
      std::size_t k = 0;
      while (k < from.live_count && live_[from.live_begin + k] != live_[to.live_begin + j]) ++k;
      sources_.push_back(k);  // live_count: the offer gives it
    }
    inputs_.clear();
    for (std::size_t k = 0; k < from.live_count; ++k) {
      const std::size_t v = live_[from.live_begin + k];
      if (v == input ? flow_.takes_input.intersects(taken.nodes) : price_.outer(o).contains(v)) inputs_.push_back(k);
    }
    const mask here = price_.alike(taken.place);

    for (index s = from.first_state; s != none; s = states_[s].next) {
      if (states_[s].first_way == none) continue;
      lying_.clear();
      for (std::size_t k = 0; k < from.live_count; ++k) lying_.push_back(masks_[states_[s].masks + k]);
      picoseconds moved = 0;
      for (const std::size_t k : inputs_) {
        if ((lying_[k] >> taken.place & 1) != 0) continue;
        const std::size_t v = live_[from.live_begin + k];
        moved +=
            price_.cheapest_crossing(v == input ? problem_.input_bytes : problem_.bytes[v], lying_[k], taken.place);
        lying_[k] |= here;
      }
      behind_.clear();
      for (std::size_t j = 0; j < to.live_count; ++j)
        behind_.push_back(sources_[j] < from.live_count ? lying_[sources_[j]]
                                                        : price_.given(o, live_[to.live_begin + j]));
      const index reached = state_behind(t);
      for (index w = states_[s].first_way; w != none; w = ways_[w].next) arrive(reached, w, o, moved);
    }
  }

  /// The group that covers some nodes more.
  constexpr index group_behind(index g, const node_set<N>& more) {
    const node_set<N> covered = covered_[g] | more;
    const index t = static_cast<index>(covered_.add(covered));
    if (t < groups_.size()) return t;
    group behind;
    behind.live_begin = live_.size();
    for (std::size_t k = 0; k < groups_[g].live_count; ++k) {
      const std::size_t v = live_[groups_[g].live_begin + k];
      if (!covered.contains(v == input ? flow_.takes_input : flow_.takers[v])) live_.push_back(v);
    }
    more.for_each([&](std::size_t v) {
      if (!covered.contains(flow_.takers[v])) live_.push_back(v);
    });
    behind.live_count = live_.size() - behind.live_begin;
    index& level = level_[covered.size()];
    behind.next = level;
    level = t;
    groups_.push_back(behind);
    return t;
  }

  /// The state of a group in which the values lie as `behind_` says.
  constexpr index state_behind(index t) {
    const std::size_t count = behind_.size();
    for (index s = groups_[t].first_state; s != none; s = states_[s].next) {
      std::size_t k = 0;
      while (k < count && masks_[states_[s].masks + k] == behind_[k]) ++k;
      if (k == count) return s;
    }
    states_.push_back({masks_.size(), none, groups_[t].first_state});
    for (const mask m : behind_) masks_.push_back(m);
    return groups_[t].first_state = static_cast<index>(states_.size() - 1);
  }

  /// A way to a state, unless another is as good.
  constexpr void arrive(index s, index parent, std::size_t o, picoseconds moved) {
    const std::size_t count = price_.amounts();
    used_.clear();
    for (std::size_t k = 0; k < count; ++k) used_.push_back(amounts_[parent * count + k]);
    if (!price_.use(used_, o, moved)) return;
    const way candidate{parent, static_cast<index>(o), none,
                        static_cast<index>(ways_[parent].count + price_.node_count(o))};
    index* link = &states_[s].first_way;
    while (*link != none) {
      way& known = ways_[*link];
      bool known_is_less = true, candidate_is_less = true;
      for (std::size_t k = 0; k < count; ++k) {
        const picoseconds a = amounts_[*link * count + k], b = used_[k];
        known_is_less = known_is_less && a <= b;
        candidate_is_less = candidate_is_less && b <= a;
      }
      if (known_is_less && candidate_is_less) {
        if (comes_first(candidate, known)) {
          known.parent = candidate.parent;
          known.offer = candidate.offer;
        }
        return;
      }
      if (known_is_less) return;
      if (candidate_is_less)
        *link = known.next;
      else
        link = &known.next;
    }
    for (const picoseconds a : used_) amounts_.push_back(a);
    *link = static_cast<index>(ways_.size());
    ways_.push_back(candidate);
  }

  /// Of two ways that cover the same nodes: whose sorted list of covered sets is the smaller, then whose backends are named first.
  constexpr bool comes_first(way a, way b) const {
    std::vector<index> of_a{a.offer}, of_b{b.offer};
    index at_a = a.parent, at_b = b.parent;
    while (at_a != at_b) {
      const bool back_a = ways_[at_a].count >= ways_[at_b].count, back_b = ways_[at_b].count >= ways_[at_a].count;
      if (back_a) {
        of_a.push_back(ways_[at_a].offer);
        at_a = ways_[at_a].parent;
      }
      if (back_b) {
        of_b.push_back(ways_[at_b].offer);
        at_b = ways_[at_b].parent;
      }
    }
    const auto earlier = [&](index x, index y) { return problem_.offers[x].nodes < problem_.offers[y].nodes; };
    std::sort(of_a.begin(), of_a.end(), earlier);
    std::sort(of_b.begin(), of_b.end(), earlier);
    const std::size_t common = std::min(of_a.size(), of_b.size());
    for (std::size_t i = 0; i < common; ++i) {
      if (earlier(of_a[i], of_b[i])) return true;
      if (earlier(of_b[i], of_a[i])) return false;
    }
    for (std::size_t i = 0; i < common; ++i)
      if (of_a[i] != of_b[i]) return price_.is_preferred(of_a[i], of_b[i]);
    return false;
  }

  /// Leaves of the ways that cover `count` nodes those that promise most.
  constexpr void keep_beam(std::size_t count) {
    std::size_t there = 0;
    for (index g = level_[count]; g != none; g = groups_[g].next)
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index w = states_[s].first_way; w != none; w = ways_[w].next) ++there;
    if (there <= beam_) return;

    struct promise {
      picoseconds order, seconds;
      index way;
      constexpr bool operator<(const promise& other) const {
        if (order != other.order) return order < other.order;
        return seconds != other.seconds ? seconds < other.seconds : way < other.way;
      }
    };
    std::vector<promise> promises;
    promises.reserve(there);
    for (index g = level_[count]; g != none; g = groups_[g].next) {
      const picoseconds rest = price_.least_work(covered_[g]);
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index w = states_[s].first_way; w != none; w = ways_[w].next) {
          const picoseconds* used = &amounts_[w * price_.amounts()];
          promises.push_back({price_.order(used), price_.least(used, rest), w});
        }
    }
    std::sort(promises.begin(), promises.end());
    std::vector<bool> kept(ways_.size());
    for (std::size_t i = 0; i < beam_; ++i) kept[promises[i].way] = true;
    for (std::size_t i = beam_; i < there; ++i) left_out_ = std::min(left_out_, promises[i].seconds);
    for (index g = level_[count]; g != none; g = groups_[g].next)
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index* link = &states_[s].first_way; *link != none;)
          if (kept[*link])
            link = &ways_[*link].next;
          else
            *link = ways_[*link].next;
  }

  constexpr cover<N> answer() const {
    cover<N> result;
    result.exact = left_out_ == most;
    index best = none;
    for (index g = level_[flow_.nodes]; g != none; g = groups_[g].next)
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index w = states_[s].first_way; w != none; w = ways_[w].next)
          if (best == none || is_better(w, best)) best = w;
    if (best == none) return result;
    result.complete = true;
    bounded<std::size_t, N> backwards;
    for (index w = best; ways_[w].parent != none; w = ways_[w].parent) backwards.push_back(ways_[w].offer);
    for (std::size_t i = backwards.size(); i-- > 0;) result.chosen.push_back(backwards[i]);

    const std::size_t count = price_.amounts();
    std::vector<picoseconds> used(amounts_.begin() + static_cast<std::ptrdiff_t>(best * count),
                                  amounts_.begin() + static_cast<std::ptrdiff_t>((best + 1) * count));
    const picoseconds counted = price_.least(used.data(), 0);
    result.seconds = to_seconds(price_.without_noise(used, result.chosen));
    result.bound =
        result.exact ? result.seconds : std::min(result.seconds, to_seconds(price_.bound(left_out_, counted)));
    return result;
  }

  constexpr bool is_better(index a, index b) const {
    const std::size_t count = price_.amounts();
    const picoseconds *of_a = &amounts_[a * count], *of_b = &amounts_[b * count];
    if (price_.order(of_a) != price_.order(of_b)) return price_.order(of_a) < price_.order(of_b);
    if (price_.least(of_a, 0) != price_.least(of_b, 0)) return price_.least(of_a, 0) < price_.least(of_b, 0);
    for (std::size_t k = 0; k < count; ++k)
      if (of_a[k] != of_b[k]) return of_a[k] < of_b[k];
    return comes_first(ways_[a], ways_[b]);
  }

  static constexpr picoseconds most = std::numeric_limits<picoseconds>::max();

  const placement_problem<N>& problem_;
  const dataflow<N>& flow_;
  const prices<N> price_;
  const std::size_t beam_;

  node_set_list<N> covered_;  // of each group
  std::vector<group> groups_;
  std::vector<state> states_;
  std::vector<way> ways_;
  std::vector<std::size_t> live_;
  std::vector<mask> masks_;
  std::vector<picoseconds> amounts_;
  std::vector<index> level_;  // the first group of each number of covered nodes
  picoseconds left_out_ = most;

  // Of one step.
  std::vector<std::size_t> sources_, inputs_;
  std::vector<mask> lying_, behind_;
  std::vector<picoseconds> used_;
};

}  // namespace detail

/// The cover with the smallest total latency.
template <std::size_t N>
constexpr cover<N> cheapest_latency(const placement_problem<N>& problem, std::size_t beam = default_beam) {
  return detail::cover_search<N>(problem, objective::latency, beam).best_cover();
}

/// The cover whose most loaded device has the least to do for each item.
template <std::size_t N>
constexpr cover<N> smallest_bottleneck(const placement_problem<N>& problem, std::size_t beam = default_beam) {
  return detail::cover_search<N>(problem, objective::throughput, beam).best_cover();
}

/// The best cover for an objective.
template <std::size_t N>
constexpr cover<N> best_cover(const placement_problem<N>& problem, objective goal, std::size_t beam = default_beam) {
  return goal == objective::latency ? cheapest_latency(problem, beam) : smallest_bottleneck(problem, beam);
}

}  // namespace levada
