// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/search.hpp: the best legal cover of a graph by offers: a shortest path over sets of covered nodes
// (Collage, TVM RFC 62), with what Collage leaves out: where each value lies that is still to be taken, what moving it
// takes, and what devices hold.
//
// - A step covers the next region. The first node that is not covered yet is covered by each offer that has all it
//   takes; where one waits for nodes elsewhere, these are covered first. So every cover whose regions can run one after
//   the other is met in one order or few, and no other.
// - What a cover has used up when it has come to a state is a list of amounts: seconds, or the load of each device;
//   bytes where memory is limited. Of two ways to the same state one is dropped only where it has used up at least as
//   much of each.
// - Among equals: less of the first amount in which they differ, then the smallest sorted list of covered sets, then
//   the backend named first. Costs of the same nodes that differ by less than their spreads are as the cost of the
//   backend named first.
// - Where costs of a node are unknown, the order of preference decides on it, then fewer regions, then what is known:
//   times settle nothing between two ways of which one is preferred.
// - Not more than `beam` ways are kept for each number of covered nodes, those that promise most. The cover is exact
//   unless that left some out; then the least that any of these could have led to is its bound.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/node_set_list.hpp>
#include <levada/plan/detail/placement.hpp>
#include <levada/plan/detail/prices.hpp>

namespace levada {

/// Ways that a search keeps at once.
inline constexpr std::size_t default_beam = 4096;

namespace detail {

/// `Prices` are made of the problem and what is asked: an objective, or one within limits (plan/detail/limits.hpp).
template <std::size_t N, class Prices = prices<N>>
class cover_search {
 public:
  template <class... Asked>
  constexpr cover_search(const placement_problem<N>& problem, std::size_t beam, const Asked&... asked)
      : problem_(problem), flow_(problem.flow), price_(problem, asked...), beam_(beam) {
    for (std::size_t n = 0; n <= flow_.nodes; ++n) level_[n] = none;
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
  using location = typename Prices::location;
  static constexpr std::size_t most_amounts = Prices::most_amounts;
  static constexpr index none = ~index{0};
  static constexpr std::size_t input = N;  // the number of what enters the graph, among values

  /// All states that cover the same nodes, and the values that they still have to hand on.
  struct group {
    std::size_t live_begin = 0, live_count = 0;  // in live_
    index first_state = none, next = none;
    picoseconds rest = 0;  // what covering the other nodes takes at least
  };
  /// Where each of these values lies.
  struct state {
    std::size_t locations = 0;  // in locations_
    index first_way = none, next = none;
  };
  /// How a state is reached, and what that has used up (in amounts_).
  struct way {
    index parent = none, offer = none, next = none, count = 0;
    bool is_kept = false;  // by the beam
  };

  constexpr void start() {
    const node_set<N> nothing;
    covered_.add(nothing);
    group first;
    first.rest = price_.least_work();
    if (!flow_.takes_input.empty()) {
      live_.push_back(input);
      first.live_count = 1;
    }
    groups_.push_back(first);
    level_[0] = 0;
    locations_.push_back(price_.input_location());
    states_.push_back({0, none, none});
    groups_[0].first_state = 0;
    ways_.push_back({});
    states_[0].first_way = 0;
    amounts_.reset(price_.amounts());
  }

  /// Drops the ways of a group that have used up more than another would even if it had to move more of its values
  /// later, wherever they may be taken: whatever follows them can follow that. Looked at is one way against those of
  /// other states.
  constexpr void drop_what_moving_makes_up_for(index g) {
    const std::size_t count = price_.amounts(), live = groups_[g].live_count;
    const picoseconds* amounts = amounts_.data();
    state* states = states_.data();
    way* ways = ways_.data();
    index best = none, best_way = none;
    picoseconds order = most, least = most;
    for (index s = groups_[g].first_state; s != none; s = states[s].next)
      for (index w = states[s].first_way; w != none; w = ways[w].next) {
        const picoseconds its_order = price_.order(amounts + w * count), its = price_.least(amounts + w * count, 0);
        if (its_order > order || (its_order == order && its >= least)) continue;
        order = its_order;
        least = its;
        best = s;
        best_way = w;
      }
    for (index s = groups_[g].first_state; s != none; s = states[s].next) {
      if (s == best || states[s].first_way == none) continue;
      picoseconds used[most_amounts];
      for (std::size_t k = 0; k < count; ++k) used[k] = amounts[best_way * count + k];
      const location *there = locations_.data() + states[best].locations,
                     *here = locations_.data() + states[s].locations;
      for (std::size_t k = 0; k < live; ++k)
        if (there[k] != here[k]) price_.add_regret(used, bytes_of(live_[groups_[g].live_begin + k]), there[k], here[k]);
      for (index* link = &states[s].first_way; *link != none;) {
        const picoseconds* known = amounts + *link * count;
        bool takes_less = false, takes_more = false;
        for (std::size_t k = 0; k < count; ++k) {
          if (price_.is_settled(k, used, known)) continue;
          takes_less = takes_less || (used[k] < known[k] && !price_.is_longest(k));
          takes_more = takes_more || used[k] > known[k];
        }
        if (takes_less && !takes_more)
          *link = ways[*link].next;
        else
          link = &ways[*link].next;
      }
    }
  }

  constexpr void expand(index g) {
    drop_what_moving_makes_up_for(g);
    const node_set<N> covered = covered_[g];
    const std::size_t first = covered.first_missing();
    node_set<N> awaited;
    for (std::size_t i = price_.first_set(first), end = price_.first_set(first + 1); i < end; ++i) {
      const offered_set<N>& set = price_.set(i);
      if (set.nodes.intersects(covered)) continue;
      if (covered.contains(set.outer))
        take(g, set);
      else
        await(awaited, set.outer - covered);
    }
    if (awaited.empty()) return;
    // What is awaited may be covered by sets that wait for others again.
    for (node_set<N> before; !(before == awaited);) {
      before = awaited;
      for_each_set_around(awaited, covered, first, [&](const offered_set<N>& set) {
        if (!covered.contains(set.outer)) await(awaited, set.outer - covered);
      });
      awaited -= covered;
    }
    for_each_set_around(awaited, covered, first, [&](const offered_set<N>& set) {
      if (covered.contains(set.outer)) take(g, set);
    });
  }

  constexpr void await(node_set<N>& awaited, const node_set<N>& missing) const {
    awaited |= missing;
    missing.for_each([&](std::size_t n) { awaited |= flow_.before[n]; });
  }

  /// Visits the sets without covered nodes, and without the first that is not covered, that cover some of the awaited
  /// ones.
  template <class Visit>
  constexpr void for_each_set_around(const node_set<N>& awaited, const node_set<N>& covered, std::size_t first,
                                     Visit visit) const {
    for (std::size_t i = price_.first_set(first + 1), end = price_.first_set(awaited.last() + 1); i < end; ++i)
      if (const offered_set<N>& set = price_.set(i); set.nodes.intersects(awaited) && !set.nodes.intersects(covered))
        visit(set);
  }

  /// From every state of a group by each offer for some nodes to the states behind it.
  constexpr void take(index g, const offered_set<N>& set) {
    const index t = group_behind(g, set);
    const std::size_t count_before = groups_[g].live_count, count_behind = groups_[t].live_count;
    const std::size_t *before = live_.data() + groups_[g].live_begin, *behind = live_.data() + groups_[t].live_begin;
    std::size_t source[N + 1];  // of a value that lives behind: which it is before; else the set gives it
    for (std::size_t j = 0; j < count_behind; ++j) {
      std::size_t k = 0;
      while (k < count_before && before[k] != behind[j]) ++k;
      source[j] = k;
    }
    std::size_t taken[N + 1], taken_count = 0;
    for (std::size_t k = 0; k < count_before; ++k)
      if (before[k] == input ? flow_.takes_input.intersects(set.nodes) : set.outer.contains(before[k]))
        taken[taken_count++] = k;

    location lying[N + 1], lying_behind[N + 1];
    const picoseconds rest = groups_[t].rest;
    for (std::size_t i = set.first_offer; i < set.behind_offers; ++i) {
      const std::size_t o = price_.offer_at(i), here = problem_.offers[o].place;
      for (std::size_t j = 0; j < count_behind; ++j)
        if (source[j] == count_before) lying_behind[j] = price_.given(here, behind[j]);
      for (index s = groups_[g].first_state, next = none; s != none; s = next) {
        const state from = states_.data()[s];
        next = from.next;
        if (from.first_way == none) continue;
        const location* locations = locations_.data() + from.locations;
        for (std::size_t k = 0; k < count_before; ++k) lying[k] = locations[k];
        picoseconds moved = 0;
        for (std::size_t k = 0; k < taken_count; ++k) {
          location& at = lying[taken[k]];
          if ((at >> here & 1) != 0) continue;
          moved += price_.crossing_time(bytes_of(before[taken[k]]), at, here);
          at = price_.moved(at, here);
        }
        for (std::size_t j = 0; j < count_behind; ++j)
          if (source[j] != count_before) lying_behind[j] = lying[source[j]];
        const index reached = state_behind(t, lying_behind, count_behind);
        for (index w = from.first_way; w != none; w = ways_.data()[w].next)
          arrive(reached, w, o, set.count, moved, rest);
      }
    }
  }

  constexpr std::size_t bytes_of(std::size_t value) const {
    return value == input ? problem_.input_bytes : problem_.bytes[value];
  }

  /// The group that covers the nodes of a set more.
  constexpr index group_behind(index g, const offered_set<N>& set) {
    const node_set<N> covered = covered_[g] | set.nodes;
    const index t = static_cast<index>(covered_.add(covered));
    if (t < groups_.size()) return t;
    group behind;
    behind.rest = groups_[g].rest - set.least_work;
    behind.live_begin = live_.size();
    for (std::size_t k = 0; k < groups_[g].live_count; ++k) {
      const std::size_t v = live_[groups_[g].live_begin + k];
      if (!covered.contains(v == input ? flow_.takes_input : flow_.takers[v])) live_.push_back(v);
    }
    set.nodes.for_each([&](std::size_t v) {
      if (!covered.contains(flow_.takers[v])) live_.push_back(v);
    });
    behind.live_count = live_.size() - behind.live_begin;
    index& level = level_[covered.size()];
    behind.next = level;
    level = t;
    groups_.push_back(behind);
    return t;
  }

  /// The state of a group in which the values lie so.
  constexpr index state_behind(index t, const location* lying, std::size_t count) {
    const state* states = states_.data();
    for (index s = groups_[t].first_state; s != none; s = states[s].next) {
      const location* locations = locations_.data() + states[s].locations;
      std::size_t k = 0;
      while (k < count && locations[k] == lying[k]) ++k;
      if (k == count) return s;
    }
    states_.push_back({locations_.size(), none, groups_[t].first_state});
    for (std::size_t k = 0; k < count; ++k) locations_.push_back(lying[k]);
    return groups_[t].first_state = static_cast<index>(states_.size() - 1);
  }

  /// A way to a state, unless another is as good.
  constexpr void arrive(index s, index parent, std::size_t o, std::size_t nodes, picoseconds moved, picoseconds rest) {
    const std::size_t count = price_.amounts();
    picoseconds used[most_amounts];
    const picoseconds* amounts = amounts_.data();
    for (std::size_t k = 0; k < count; ++k) used[k] = amounts[parent * count + k];
    if (!price_.use(used, o, moved, rest)) return;
    const way candidate{parent, static_cast<index>(o), none, static_cast<index>(ways_[parent].count + nodes)};
    index* link = &states_.data()[s].first_way;
    while (*link != none) {
      way& known = ways_.data()[*link];
      const picoseconds* known_used = amounts + *link * count;
      bool known_fits = true, candidate_fits = true, equal_sums = true;
      for (std::size_t k = 0; k < count; ++k) {
        if (known_used[k] == used[k] || price_.is_settled(k, known_used, used)) continue;
        known_fits = known_fits && known_used[k] < used[k];
        candidate_fits = candidate_fits && used[k] < known_used[k];
        equal_sums = equal_sums && price_.is_longest(k);
      }
      const bool is_first = equal_sums && comes_first(candidate, known);
      if (known_fits && candidate_fits) {
        if (is_first) {
          known.parent = candidate.parent;
          known.offer = candidate.offer;
        }
        return;
      }
      if (known_fits && !is_first) return;
      if (candidate_fits && (!equal_sums || is_first))
        *link = known.next;
      else
        link = &known.next;
    }
    *link = static_cast<index>(ways_.size());
    for (std::size_t k = 0; k < count; ++k) amounts_.push_back(used[k]);
    ways_.push_back(candidate);
  }

  /// Of two ways that cover the same nodes: whose sorted list of covered sets is the smaller, then whose backends are
  /// named first.
  constexpr bool comes_first(way a, way b) const {
    constexpr_vector<index> of_a{a.offer}, of_b{b.offer};
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
    struct promise {
      picoseconds order = 0, seconds = 0;
      index way = none;
      constexpr bool operator<(const promise& other) const {
        if (order != other.order) return order < other.order;
        return seconds != other.seconds ? seconds < other.seconds : way < other.way;
      }
    };
    const way* ways = ways_.data();
    std::size_t there = 0;
    for (index g = level_[count]; g != none; g = groups_[g].next)
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index w = states_[s].first_way; w != none; w = ways[w].next) ++there;
    if (there <= beam_) return;

    constexpr_vector<promise> promises(there);
    promise* next = promises.data();
    for (index g = level_[count]; g != none; g = groups_[g].next)
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index w = states_[s].first_way; w != none; w = ways[w].next) {
          const picoseconds* used = amounts_.data() + w * price_.amounts();
          *next++ = {price_.order(used), price_.least(used, groups_[g].rest), w};
        }
    std::nth_element(promises.begin(), promises.begin() + beam_, promises.end());
    for (std::size_t i = 0; i < beam_; ++i) ways_[promises[i].way].is_kept = true;
    for (std::size_t i = beam_; i < there; ++i) left_out_ = std::min(left_out_, promises[i].seconds);
    for (index g = level_[count]; g != none; g = groups_[g].next)
      for (index s = groups_[g].first_state; s != none; s = states_[s].next)
        for (index* link = &states_[s].first_way; *link != none;) {
          way& its = ways_.data()[*link];
          if (its.is_kept)
            link = &its.next;
          else
            *link = its.next;
        }
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
    picoseconds used[most_amounts]{};
    for (std::size_t k = 0; k < count; ++k) used[k] = amounts_[best * count + k];
    const picoseconds counted = price_.least(used, 0);
    result.seconds = to_seconds(price_.without_noise(used, result.chosen));
    result.bound =
        result.exact ? result.seconds : std::min(result.seconds, to_seconds(price_.bound(left_out_, counted)));
    return result;
  }

  constexpr bool is_better(index a, index b) const {
    const std::size_t count = price_.amounts();
    const picoseconds *of_a = amounts_.data() + a * count, *of_b = amounts_.data() + b * count;
    if (price_.order(of_a) != price_.order(of_b)) return price_.order(of_a) < price_.order(of_b);
    if (price_.least(of_a, 0) != price_.least(of_b, 0)) return price_.least(of_a, 0) < price_.least(of_b, 0);
    for (std::size_t k = 0; k < count; ++k)
      if (of_a[k] != of_b[k]) return of_a[k] < of_b[k];
    return comes_first(ways_[a], ways_[b]);
  }

  static constexpr picoseconds most = std::numeric_limits<picoseconds>::max();

  const placement_problem<N>& problem_;
  const dataflow<N>& flow_;
  const Prices price_;
  const std::size_t beam_;

  node_set_list<N> covered_;  // of each group
  constexpr_vector<group> groups_;
  constexpr_vector<state> states_;
  constexpr_vector<way> ways_;
  constexpr_vector<std::size_t> live_;
  constexpr_vector<location> locations_;
  constexpr_vector<picoseconds> amounts_;
  index level_[N + 1];  // the first group of each number of covered nodes
  picoseconds left_out_ = most;
};

}  // namespace detail

/// The cover with the smallest total latency.
template <std::size_t N>
constexpr cover<N> cheapest_latency(const placement_problem<N>& problem, std::size_t beam = default_beam) {
  return detail::cover_search<N>(problem, beam, objective::latency).best_cover();
}

/// The cover whose most loaded device has the least to do for each item.
template <std::size_t N>
constexpr cover<N> smallest_bottleneck(const placement_problem<N>& problem, std::size_t beam = default_beam) {
  return detail::cover_search<N>(problem, beam, objective::throughput).best_cover();
}

/// The best cover for an objective of time; others are those of plan/detail/limits.hpp.
template <std::size_t N>
constexpr cover<N> best_cover(const placement_problem<N>& problem, objective goal, std::size_t beam = default_beam) {
  return goal == objective::throughput ? smallest_bottleneck(problem, beam) : cheapest_latency(problem, beam);
}

}  // namespace levada
