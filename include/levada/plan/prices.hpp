// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/prices.hpp: what each step of a search uses up: the arithmetic of plan/search.hpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <levada/plan/node_set_list.hpp>
#include <levada/plan/placement.hpp>
#include <levada/plan/subgraph.hpp>

namespace levada::detail {

/// The amounts of a way, in this order: the preference, where some costs are unknown; picoseconds, or those of each device; those
/// of the longest serial region, where a device works on several items; bytes on each device with little memory.
template <std::size_t N>
class prices {
 public:
  using mask = std::uint8_t;  // of places

  constexpr prices(const placement_problem<N>& problem, objective goal) : problem_(problem), goal_(goal) {
    places_alike();
    number_amounts();
    offers_.resize(problem.offers.size());
    for (std::size_t o = 0; o < problem.offers.size(); ++o) set_offer(o);
    count_noise();
    sort_offers();
    share_work();
  }

  // ---- offers ----
  /// Those whose first node that is.
  constexpr std::span<const std::size_t> offers_at(std::size_t node) const {
    return {sorted_.data() + begin_[node], begin_[node + 1] - begin_[node]};
  }
  constexpr const node_set<N>& outer(std::size_t o) const { return offers_[o].outer; }
  constexpr std::size_t node_count(std::size_t o) const { return offers_[o].count; }
  /// Between offers of the same nodes.
  constexpr bool is_preferred(std::size_t a, std::size_t b) const {
    const std::size_t at_a = problem_.offers[a].place, at_b = problem_.offers[b].place;
    const std::size_t rank_a = problem_.places[at_a].rank, rank_b = problem_.places[at_b].rank;
    return rank_a != rank_b ? rank_a < rank_b : at_a != at_b ? at_a < at_b : a < b;
  }

  // ---- places ----
  /// The places where a value lies that lies there: moving it takes nothing.
  constexpr mask alike(std::size_t place) const { return alike_[place]; }
  constexpr mask input_places() const {
    return problem_.host == problem_.nowhere ? static_cast<mask>(~mask{0}) : alike_[problem_.host];
  }
  /// Where a value lies that an offer gives; one that leaves is moved to the host at once.
  constexpr mask given(std::size_t o, std::size_t value) const {
    const mask here = alike_[problem_.offers[o].place];
    return goes_to_host(value) ? here | alike_[problem_.host] : here;
  }
  constexpr picoseconds cheapest_crossing(std::size_t bytes, mask from, std::size_t to) const {
    picoseconds least = std::numeric_limits<picoseconds>::max();
    for (std::size_t p = 0; p < problem_.places.size(); ++p)
      if ((from >> p & 1) != 0) least = std::min(least, crossing_time(bytes, p, to));
    return least;
  }

  // ---- amounts ----
  constexpr std::size_t amounts() const { return amounts_; }

  /// Adds an offer's amounts, and of moving what it takes; false where a device's memory does not hold it.
  constexpr bool use(std::vector<picoseconds>& used, std::size_t o, picoseconds moved) const {
    const priced_offer& priced = offers_[o];
    if (has_order_) used[0] += priced.order;
    used[priced.load] += priced.price + moved;
    if (priced.to_host != 0) used[load_of(problem_.host)] += priced.to_host;
    if (has_peak_ && problem_.offers[o].serial) used[peak_] = std::max(used[peak_], priced.price);
    if (priced.memory == none) return true;
    used[priced.memory] += priced.bytes;
    return used[priced.memory] <= limit_[priced.memory];
  }

  constexpr picoseconds order(const picoseconds* used) const { return has_order_ ? used[0] : 0; }
  /// The least that the objective can become with so much work left.
  constexpr picoseconds least(const picoseconds* used, picoseconds rest) const {
    if (goal_ == objective::latency) return used[first_load_] + rest;
    picoseconds most = has_peak_ ? used[peak_] : 0, sum = rest, workers = 0;
    for (std::size_t d = 0; d < problem_.devices.size(); ++d) {
      const picoseconds w = problem_.devices[d].workers, load = used[first_load_ + d];
      most = std::max(most, (load + w - 1) / w);
      sum += load;
      workers += w;
    }
    return std::max(most, sum / workers);
  }
  /// The least that computing what is not covered can take.
  constexpr picoseconds least_work(const node_set<N>& covered) const {
    picoseconds rest = 0;
    for (std::size_t n = 0; n < problem_.flow.nodes; ++n)
      if (!covered.contains(n)) rest += share_[n];
    return rest;
  }
  /// No cover takes less where none that was looked at does, nor any that was left out, each of which takes so much at least.
  /// Where the order of preference comes first, what was left out in its favour may be fast.
  constexpr picoseconds bound(picoseconds left_out, picoseconds found) const {
    if (!has_order_) return std::min(left_out, found);
    const std::vector<picoseconds> nothing(amounts_);
    return least(nothing.data(), least_work({}));
  }
  /// The objective of a cover that used so much, without what `count_noise` added.
  template <class Chosen>
  constexpr picoseconds without_noise(std::vector<picoseconds> used, const Chosen& chosen) const {
    if (has_peak_) used[peak_] = 0;
    for (const std::size_t o : chosen) {
      used[offers_[o].load] -= offers_[o].noise;
      if (has_peak_ && problem_.offers[o].serial)
        used[peak_] = std::max(used[peak_], offers_[o].price - offers_[o].noise);
    }
    return least(used.data(), 0);
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  struct priced_offer {
    node_set<N> outer;  // the nodes outside that it waits for
    std::size_t count = 0, load = 0, memory = none;
    picoseconds price = 0, noise = 0, to_host = 0, order = 0, bytes = 0;
    bool legal = false;
  };

  constexpr bool goes_to_host(std::size_t value) const {
    return problem_.host != problem_.nowhere && problem_.flow.leaving.contains(value);
  }
  constexpr picoseconds crossing_time(std::size_t bytes, std::size_t from, std::size_t to) const {
    const crossing& c = problem_.crossings[from][to];
    return from == to ? 0 : to_picoseconds(c.seconds + c.seconds_per_byte * static_cast<double>(bytes));
  }
  constexpr std::size_t load_of(std::size_t place) const {
    return goal_ == objective::latency ? first_load_ : first_load_ + problem_.places[place].device;
  }
  static constexpr bool is_known(const cost& price) {
    return price.origin != cost_origin::unknown && price.seconds >= 0;
  }

  constexpr void places_alike() {
    const std::size_t count = problem_.places.size();
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b) {
        const crossing& c = problem_.crossings[a][b];
        if (a == b || (c.seconds == 0 && c.seconds_per_byte == 0)) alike_[a] |= static_cast<mask>(1u << b);
      }
  }

  constexpr void number_amounts() {
    bool has_serial = false, has_workers = false;
    for (const offer<N>& o : problem_.offers) {
      has_order_ = has_order_ || !is_known(o.price);
      has_serial = has_serial || o.serial;
      if (!is_known(o.price)) uncertain_ |= o.nodes;
    }
    for (const device_capacity& d : problem_.devices) has_workers = has_workers || d.workers > 1;
    first_load_ = amounts_ = has_order_ ? 1 : 0;
    amounts_ += goal_ == objective::latency ? 1 : problem_.devices.size();
    has_peak_ = goal_ == objective::throughput && has_serial && has_workers;
    peak_ = amounts_;
    if (has_peak_) ++amounts_;
    for (std::size_t& m : memory_) m = none;
    for (std::size_t d = 0; d < problem_.devices.size(); ++d) {
      if (problem_.devices[d].memory == device_capacity::any) continue;
      limit_[amounts_] = static_cast<picoseconds>(problem_.devices[d].memory);
      memory_[d] = amounts_++;
    }
  }

  constexpr void set_offer(std::size_t o) {
    const offer<N>& given = problem_.offers[o];
    const place& at = problem_.places[given.place];
    priced_offer& priced = offers_[o];
    priced.legal = fault_of(problem_.flow, given.nodes) == subgraph_fault::none;
    if (!priced.legal) return;
    priced.outer = outer_producers(problem_.flow, given.nodes);
    priced.count = given.nodes.size();
    priced.load = load_of(given.place);
    priced.price = to_picoseconds(at.launch_seconds + (is_known(given.price) ? given.price.seconds : 0));
    priced.memory = memory_[at.device];
    priced.bytes = static_cast<picoseconds>(given.bytes);
    if (has_order_) {
      const std::size_t open = (given.nodes & uncertain_).size();
      priced.order = static_cast<picoseconds>(at.rank * open * (N + 1) + (open != 0 ? 1 : 0));
    }
    if (problem_.host != problem_.nowhere && given.nodes.intersects(problem_.flow.leaving))
      (given.nodes & problem_.flow.leaving).for_each([&](std::size_t v) {
        if ((alike_[given.place] >> problem_.host & 1) == 0)
          priced.to_host += crossing_time(problem_.bytes[v], given.place, problem_.host);
      });
  }

  /// Of two costs of the same nodes that differ by less than their spreads, that of the backend named later is not the smaller.
  constexpr void count_noise() {
    bool any = false;
    for (const offer<N>& o : problem_.offers) any = any || o.price.spread > 0;
    if (!any) return;
    node_set_list<N> sets;
    std::vector<std::vector<std::size_t>> of_set;
    for (std::size_t o = 0; o < offers_.size(); ++o) {
      const std::size_t set = sets.add(problem_.offers[o].nodes);
      if (set == of_set.size()) of_set.push_back({});
      of_set[set].push_back(o);
    }
    for (std::vector<std::size_t>& same : of_set) {
      std::sort(same.begin(), same.end(), [&](std::size_t a, std::size_t b) { return is_preferred(a, b); });
      for (std::size_t i = 1; i < same.size(); ++i)
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

  constexpr void sort_offers() {
    for (std::size_t o = 0; o < offers_.size(); ++o)
      if (offers_[o].legal) ++begin_[problem_.offers[o].nodes.first() + 1];
    for (std::size_t n = 0; n < N; ++n) begin_[n + 1] += begin_[n];
    sorted_.resize(begin_[N]);
    std::vector<std::size_t> next(begin_, begin_ + N);
    for (std::size_t o = 0; o < offers_.size(); ++o)
      if (offers_[o].legal) sorted_[next[problem_.offers[o].nodes.first()]++] = o;
  }

  /// Each node's part of the cheapest offer for it, shared equally: what any cover takes for it at least.
  constexpr void share_work() {
    for (std::size_t n = 0; n < N; ++n) share_[n] = std::numeric_limits<picoseconds>::max();
    for (std::size_t o = 0; o < offers_.size(); ++o) {
      if (!offers_[o].legal) continue;
      const picoseconds part = offers_[o].price / static_cast<picoseconds>(offers_[o].count);
      problem_.offers[o].nodes.for_each([&](std::size_t n) { share_[n] = std::min(share_[n], part); });
    }
    for (std::size_t n = 0; n < N; ++n)
      if (share_[n] == std::numeric_limits<picoseconds>::max()) share_[n] = 0;
  }

  const placement_problem<N>& problem_;
  objective goal_;
  std::vector<priced_offer> offers_;
  std::vector<std::size_t> sorted_;
  std::size_t begin_[N + 1]{};
  picoseconds share_[N]{};
  mask alike_[most_places]{};

  node_set<N> uncertain_;  // nodes of which some cost is unknown
  bool has_order_ = false, has_peak_ = false;
  std::size_t amounts_ = 0, first_load_ = 0, peak_ = 0;
  std::size_t memory_[most_places]{};
  picoseconds limit_[2 * most_places + 2]{};
};

}  // namespace levada::detail
