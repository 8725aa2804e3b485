// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/prices.hpp: what each step of a search uses up: the arithmetic of plan/detail/search.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/node_set_list.hpp>
#include <levada/plan/detail/placement.hpp>
#include <levada/plan/detail/subgraph.hpp>

namespace levada::detail {

/// The offers for the same nodes.
template <std::size_t N>
struct offered_set {
  node_set<N> nodes;
  node_set<N> outer;  ///< the nodes outside that it waits for
  std::size_t count = 0;
  picoseconds least_work = 0;  ///< the shares of its nodes in what covering the graph takes at least
  std::size_t first_offer = 0, behind_offers = 0;  ///< in the order of `prices::offer_at`
};

/// The amounts of a way, in this order: the preference, where some costs are unknown; picoseconds, or those of each
/// device; those of the longest serial region, where a device works on several items; bytes on each device with little
/// memory.
template <std::size_t N>
class prices {
 public:
  using mask = std::uint8_t;  // of places
  /// The place where a value was given, in the high byte, and all places where it lies by now, in the low one.
  using location = std::uint16_t;
  /// The order, the loads and the memories of the devices, the longest serial region.
  static constexpr std::size_t most_amounts = 2 * most_places + 2;

  constexpr prices(const placement_problem<N>& problem, objective goal, bool counts_noise = true)
      : problem_(problem), goal_(goal) {
    places_alike();
    number_amounts();
    offers_.reset(problem.offers.size());
    group_offers();
    if (counts_noise) count_noise();
    share_work();
  }

  // ---- offers ----
  /// The sets with that first node are those from `first_set(node)` to before `first_set(node + 1)`.
  constexpr std::size_t first_set(std::size_t node) const { return begin_[node]; }
  constexpr const offered_set<N>& set(std::size_t i) const { return sets_[i]; }
  constexpr std::size_t offer_at(std::size_t i) const { return sorted_[i]; }
  /// Between offers of the same nodes.
  constexpr bool is_preferred(std::size_t a, std::size_t b) const {
    const std::size_t at_a = problem_.offers[a].place, at_b = problem_.offers[b].place;
    const std::size_t rank_a = problem_.offers[a].rank, rank_b = problem_.offers[b].rank;
    return rank_a != rank_b ? rank_a < rank_b : at_a != at_b ? at_a < at_b : a < b;
  }

  // ---- places ----
  constexpr location input_location() const {
    if (problem_.host == problem_.nowhere) return static_cast<location>((1u << problem_.places.size()) - 1);
    return lying_at(problem_.host);
  }
  /// Of a value that is given at a place; one that leaves is moved to the host at once.
  constexpr location given(std::size_t place, std::size_t value) const {
    const bool to_host = problem_.host != problem_.nowhere && problem_.flow.leaving.contains(value);
    return to_host ? moved(lying_at(place), problem_.host) : lying_at(place);
  }
  constexpr location moved(location at, std::size_t to) const { return static_cast<location>(at | alike_[to]); }
  /// Moves always start where the value was given, so that what they take does not hang on their order.
  constexpr picoseconds crossing_time(std::size_t bytes, location at, std::size_t to) const {
    return time_between(bytes, at >> 8, to);
  }

  // ---- amounts ----
  constexpr std::size_t amounts() const { return amounts_; }
  /// The amount that is no sum: a way with less of it may come to have as much as another.
  constexpr bool is_longest(std::size_t k) const { return has_peak_ && k == peak_; }

  /// It does not matter which of two ways has less of it: one of them is preferred, and this is a time.
  constexpr bool is_settled(std::size_t k, const picoseconds* a, const picoseconds* b) const {
    return has_order_ && a[0] != b[0] && k >= first_load_ && k < behind_times_;
  }

  /// Adds an offer's amounts, and of moving what it takes; false where a device's memory does not hold it.
  constexpr bool use(picoseconds* used, std::size_t o, picoseconds moved, picoseconds) const {
    const priced_offer& priced = offers_[o];
    used[priced.load] += priced.price + moved;
    if (is_plain_) return true;
    if (has_order_) used[0] += priced.order;
    if (priced.to_host != 0) used[load_of(problem_.host)] += priced.to_host;
    if (has_peak_ && problem_.offers[o].serial) used[peak_] = std::max(used[peak_], priced.price);
    if (priced.memory == none) return true;
    used[priced.memory] += priced.bytes;
    return used[priced.memory] <= limit_[priced.memory];
  }
  /// Adds by how much more, at worst, is still to be moved of a value that lies there than of one that lies elsewhere.
  constexpr void add_regret(picoseconds* used, std::size_t bytes, location there, location elsewhere) const {
    for (std::size_t p = 0; p < problem_.places.size(); ++p) {
      if ((there >> p & 1) != 0 || (alike_[p] & ((1u << p) - 1)) != 0) continue;
      const picoseconds more = crossing_time(bytes, there, p);
      const picoseconds less = (elsewhere >> p & 1) != 0 ? 0 : crossing_time(bytes, elsewhere, p);
      if (more > less) used[load_of(p)] += more - less;
    }
  }

  constexpr picoseconds order(const picoseconds* used) const { return has_order_ ? used[0] : 0; }
  /// The least that the objective can become with so much work left.
  constexpr picoseconds least(const picoseconds* used, picoseconds rest) const {
    if (goal_ == objective::latency) return used[first_load_] + rest;
    const picoseconds* load = used + first_load_;
    picoseconds most = has_peak_ ? used[peak_] : 0, sum = rest;
    for (std::size_t d = 0; d < device_count_; ++d) {
      const picoseconds its = (load[d] + workers_[d] - 1) / workers_[d];
      if (its > most) most = its;
      sum += load[d];
    }
    sum /= all_workers_;
    return sum > most ? sum : most;
  }
  /// The least that computing all nodes can take, wherever.
  constexpr picoseconds least_work() const { return all_work_; }
  /// No cover takes less where none that was looked at does, nor any that was left out, each of which takes so much at
  /// least. Where the order of preference comes first, what was left out in its favour may be fast.
  constexpr picoseconds bound(picoseconds left_out, picoseconds found) const {
    if (!has_order_) return std::min(left_out, found);
    constexpr picoseconds nothing[most_amounts]{};
    return least(nothing, all_work_);
  }
  /// The objective of a cover that used so much, without what `count_noise` added.
  template <class Chosen>
  constexpr picoseconds without_noise(picoseconds* used, const Chosen& chosen) const {
    if (has_peak_) used[peak_] = 0;
    for (const std::size_t o : chosen) {
      used[offers_[o].load] -= offers_[o].noise;
      if (has_peak_ && problem_.offers[o].serial)
        used[peak_] = std::max(used[peak_], offers_[o].price - offers_[o].noise);
    }
    return least(used, 0);
  }

 protected:
  static constexpr std::size_t none = ~std::size_t{0};

  struct priced_offer {
    std::size_t load = 0, memory = none;
    picoseconds price = 0, noise = 0, to_host = 0, order = 0, bytes = 0;
  };

  constexpr picoseconds time_between(std::size_t bytes, std::size_t from, std::size_t to) const {
    return from == to ? 0 : to_picoseconds(problem_.crossings[from][to].seconds_for(bytes));
  }
  constexpr location lying_at(std::size_t place) const {
    std::size_t first = 0;
    while ((alike_[place] >> first & 1) == 0) ++first;
    return static_cast<location>(first << 8 | alike_[place]);
  }
  static constexpr bool is_known(const cost& price) {
    return price.origin != cost_origin::unknown && price.seconds >= 0;
  }
  constexpr const placement_problem<N>& problem() const { return problem_; }
  constexpr const priced_offer& priced(std::size_t o) const { return offers_[o]; }
  /// Places that nothing tells from this one.
  constexpr mask alike(std::size_t place) const { return alike_[place]; }

 private:
  constexpr std::size_t load_of(std::size_t place) const {
    return goal_ == objective::latency ? first_load_ : first_load_ + problem_.places[place].device;
  }

  /// Places on one device are alike where nothing tells them apart: what lies at one lies at the other.
  constexpr void places_alike() {
    const std::size_t count = problem_.places.size();
    const auto equal = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
      return problem_.crossings[a][b] == problem_.crossings[c][d];
    };
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b) {
        bool alike = a == b || (problem_.places[a].device == problem_.places[b].device &&
                                problem_.crossings[a][b] == crossing{} && problem_.crossings[b][a] == crossing{});
        for (std::size_t p = 0; alike && p < count; ++p)
          alike = p == a || p == b || (equal(a, p, b, p) && equal(p, a, p, b));
        if (alike) alike_[a] |= static_cast<mask>(1u << b);
      }
  }

  constexpr void number_amounts() {
    bool has_serial = false, has_workers = false;
    for (const offer<N>& o : problem_.offers) {
      has_serial = has_serial || o.serial;
      if (is_known(o.price)) continue;
      has_order_ = true;
      uncertain_ |= o.nodes;
    }
    for (const device_capacity& d : problem_.devices) {
      has_workers = has_workers || d.workers > 1;
      all_workers_ += d.workers;
      workers_[device_count_++] = d.workers;
    }
    first_load_ = amounts_ = has_order_ ? 1 : 0;
    amounts_ += goal_ == objective::latency ? 1 : problem_.devices.size();
    has_peak_ = goal_ == objective::throughput && has_serial && has_workers;
    peak_ = amounts_;
    if (has_peak_) ++amounts_;
    behind_times_ = amounts_;
    for (std::size_t& m : memory_) m = none;
    for (std::size_t d = 0; d < problem_.devices.size(); ++d) {
      if (problem_.devices[d].memory == device_capacity::any) continue;
      limit_[amounts_] = static_cast<picoseconds>(problem_.devices[d].memory);
      memory_[d] = amounts_++;
    }
    const bool may_leave_elsewhere = problem_.host != problem_.nowhere && !problem_.flow.leaving.empty();
    is_plain_ = !has_order_ && !has_peak_ && amounts_ == behind_times_ && !may_leave_elsewhere;
  }

  constexpr void price_offer(std::size_t o, const node_set<N>& nodes) {
    const offer<N>& given = problem_.offers[o];
    const levada::place& at = problem_.places[given.place];
    priced_offer& priced = offers_[o];
    priced.load = load_of(given.place);
    priced.price = to_picoseconds(at.launch_seconds + (is_known(given.price) ? given.price.seconds : 0));
    if (is_plain_) return;
    priced.memory = memory_[at.device];
    priced.bytes = static_cast<picoseconds>(given.bytes);
    if (has_order_) {
      const std::size_t open = (nodes & uncertain_).size();
      priced.order = static_cast<picoseconds>(given.rank * open * (N + 1) + (open != 0 ? 1 : 0));
    }
    if (problem_.host == problem_.nowhere || (alike_[given.place] >> problem_.host & 1) != 0) return;
    if (!nodes.intersects(problem_.flow.leaving)) return;
    (nodes & problem_.flow.leaving).for_each([&](std::size_t v) {
      priced.to_host += time_between(problem_.bytes[v], given.place, problem_.host);
    });
  }

  /// Sets in the order of their first nodes, and the offers for each; those that would wait for themselves are left
  /// out.
  constexpr void group_offers() {
    const std::size_t offers = problem_.offers.size();
    const offer<N>* given = problem_.offers.data();
    node_set_list<N> known;
    constexpr_vector<std::size_t> set_of(offers), size_of;
    for (std::size_t o = 0; o < offers; ++o) {
      const std::size_t s = set_of[o] = known.add(given[o].nodes);
      if (s == size_of.size()) size_of.push_back(0);
      ++size_of[s];
    }
    const std::size_t sets = known.size();
    constexpr_vector<std::size_t> firsts(sets), next_offer(sets);
    constexpr_vector<node_set<N>> outer(sets);
    for (std::size_t s = 0; s < sets; ++s) {
      node_set<N> before, behind;
      known[s].for_each([&](std::size_t n) {
        before |= problem_.flow.before[n];
        behind |= problem_.flow.behind[n];
        outer[s] |= problem_.flow.producers[n];
      });
      firsts[s] = known[s].empty() || !known[s].contains(before & behind) ? none : known[s].first();
      if (firsts[s] != none) ++begin_[firsts[s] + 1];
    }
    for (std::size_t n = 0; n < N; ++n) begin_[n + 1] += begin_[n];
    sets_.reset(begin_[N]);
    std::size_t next[N]{};
    for (std::size_t n = 0; n < N; ++n) next[n] = begin_[n];
    std::size_t listed = 0;
    for (std::size_t s = 0; s < sets; ++s) {
      next_offer[s] = none;
      if (firsts[s] == none) continue;
      offered_set<N>& set = sets_[next[firsts[s]]++];
      set.nodes = known[s];
      set.outer = outer[s] - set.nodes;
      set.count = set.nodes.size();
      set.first_offer = next_offer[s] = listed;
      set.behind_offers = listed += size_of[s];
    }
    sorted_.reset(listed);
    for (std::size_t o = 0; o < offers; ++o) {
      if (next_offer[set_of[o]] == none) continue;
      sorted_[next_offer[set_of[o]]++] = o;
      price_offer(o, given[o].nodes);
    }
  }

  /// Of two costs of the same nodes that differ by less than their spreads, that of the backend named later is not the
  /// smaller.
  constexpr void count_noise() {
    bool any = false;
    for (const offer<N>& o : problem_.offers) any = any || o.price.spread > 0;
    if (!any) return;
    for (const offered_set<N>& set : sets_) {
      std::size_t* same = sorted_.data() + set.first_offer;
      const std::size_t count = set.behind_offers - set.first_offer;
      any = false;
      for (std::size_t i = 0; i < count; ++i) any = any || problem_.offers[same[i]].price.spread > 0;
      if (!any) continue;
      std::sort(same, same + count, [&](std::size_t a, std::size_t b) { return is_preferred(a, b); });
      for (std::size_t i = 1; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j) {
          priced_offer &later = offers_[same[i]], &earlier = offers_[same[j]];
          const picoseconds spread = to_picoseconds(problem_.offers[same[i]].price.spread) +
                                     to_picoseconds(problem_.offers[same[j]].price.spread);
          const picoseconds own = later.price - later.noise, other = earlier.price - earlier.noise;
          if (own > other + spread || other > own + spread || earlier.price <= later.price) continue;
          later.noise += earlier.price - later.price;
          later.price = earlier.price;
        }
    }
  }

  /// Each node's part of the cheapest offer for it, shared equally: what any cover takes for it at least.
  constexpr void share_work() {
    constexpr picoseconds most = std::numeric_limits<picoseconds>::max();
    for (std::size_t n = 0; n < N; ++n) share_[n] = most;
    for (const offered_set<N>& set : sets_) {
      picoseconds least = most;
      for (std::size_t i = set.first_offer; i < set.behind_offers; ++i)
        if (const picoseconds price = offers_[sorted_[i]].price; price < least) least = price;
      const picoseconds part = least / static_cast<picoseconds>(set.count);
      set.nodes.for_each([&](std::size_t n) {
        if (part < share_[n]) share_[n] = part;
      });
    }
    for (std::size_t n = 0; n < N; ++n) {
      if (share_[n] == most) share_[n] = 0;
      all_work_ += share_[n];
    }
    for (offered_set<N>& set : sets_) set.nodes.for_each([&](std::size_t n) { set.least_work += share_[n]; });
  }

  const placement_problem<N>& problem_;
  objective goal_;
  constexpr_vector<priced_offer> offers_;
  constexpr_vector<offered_set<N>> sets_;
  constexpr_vector<std::size_t> sorted_;  // the offers, set by set
  std::size_t begin_[N + 1]{};
  picoseconds share_[N]{}, all_work_ = 0;
  mask alike_[most_places]{};

  picoseconds workers_[most_places]{}, all_workers_ = 0;  // of each device
  std::size_t device_count_ = 0;
  node_set<N> uncertain_;  // nodes of which some cost is unknown
  bool has_order_ = false, has_peak_ = false;
  bool is_plain_ = false;  // nothing is counted but computing and moving
  std::size_t amounts_ = 0, first_load_ = 0, behind_times_ = 0, peak_ = 0;
  std::size_t memory_[most_places]{};
  picoseconds limit_[most_amounts]{};
};

}  // namespace levada::detail
