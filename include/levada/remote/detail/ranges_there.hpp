// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/ranges_there.hpp: the parts of a line that may go to another machine, as values, and what they take on
// its processor: which of them remote/detail/by_cost.hpp takes, or offers to a search.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/counted_parts.hpp>
#include <levada/graph/detail/for_each.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/pipeline.hpp>
#include <levada/graph/detail/place_info.hpp>
#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>
#include <levada/remote/detail/traffic.hpp>
#include <levada/remote/detail/wire.hpp>

namespace levada::detail {

template <class Line>
struct parts_of_line : type_tag<stage_list<>> {};
template <class Left, class Right>
struct parts_of_line<link<Left, Right>> : type_tag<typename link<Left, Right>::stages> {};
template <class... Parts>
struct parts_of_line<pipeline<Parts...>> : type_tag<stage_list<Parts...>> {};
template <class Line>
inline constexpr std::size_t part_count = 0;
template <class... Parts>
inline constexpr std::size_t part_count<stage_list<Parts...>> = sizeof...(Parts);

/// A part of a line, which goes to another machine as a whole or not at all.
struct part_of_line {
  std::size_t first = 0, count = 0;  ///< its nodes
  bool may_go = false;               ///< as far as it is alone
  std::size_t out_bytes = 0;         ///< over the wire, of what it gives; 0: that does not go there

  constexpr std::size_t behind() const { return first + count; }
};

/// The bytes of an item over the wire; 0: it does not go there, or is no item.
template <class T>
consteval std::size_t bytes_over_wire() {
  if constexpr (std::is_void_v<T> || std::same_as<T, nothing_more> || is_branch_items<T> || is_uncollected<T>)
    return 0;
  else if constexpr (has_wire_form<T>)
    return std::max<std::size_t>(1, wire<T>::most_bytes);
  else
    return 0;
}

template <class Flat, class Parts, class Line>
struct line_values;
template <class Flat, class Parts, class... Element>
struct line_values<Flat, Parts, stage_list<Element...>> {
  template <std::size_t... I>
  static consteval auto find(std::index_sequence<I...>) {
    constexpr std::size_t sizes[] = {flatten<Element, void>::type::size...};
    constexpr bool is_node[] = {(is_stage<stage_or_mark<Parts, I>> && !is_source<stage_or_mark<Parts, I>>)...};
    constexpr bool has_sides[] = {(sides_in<Parts, I>::size != 0)...};
    constexpr std::size_t out_bytes[] = {bytes_over_wire<typename place<Parts, I>::out>()...};
    constexpr const auto& graph = Flat::describe();
    std::array<part_of_line, sizeof...(Element)> all{};
    std::size_t part = 0, node = 0;
    for (std::size_t e = 0; e < sizeof...(Element); ++e) {
      part_of_line& here = all[e];
      here.first = node;
      here.may_go = true;
      for (const std::size_t behind = part + sizes[e]; part < behind; ++part) {
        node += is_node[part] ? 1 : 0;
        here.may_go = here.may_go && !has_sides[part];
        here.out_bytes = out_bytes[part];
      }
      here.count = node - here.first;
      here.may_go = here.may_go && here.count != 0;
      for (std::size_t n = here.first; n < node; ++n)
        here.may_go =
            here.may_go && !graph.nodes[n].pin && !graph.nodes[n].takes_more_than_items && graph.nodes[n].holds.empty();
    }
    return all;
  }
};

// ---- what runs of nodes take ----

/// The sums of a run, in whole picoseconds as those of a search.
struct run_time {
  bool is_known = false;
  picoseconds time = 0, spread = 0, longest_serial = 0;
};

/// What the cheapest kernels of one place take for runs of nodes.
template <std::size_t N>
class run_prices {
 public:
  constexpr run_prices(const placement_problem<N>& problem, std::size_t place) : nodes_(problem.flow.nodes) {
    const auto is_of_place = [&](const offer<N>& o) {
      return o.place == place && o.price.origin != cost_origin::unknown;
    };
    for (const offer<N>& o : problem.offers)
      if (is_of_place(o)) ++begin_[o.nodes.first() + 1];
    for (std::size_t n = 0; n < N; ++n) begin_[n + 1] += begin_[n];
    kernels_.reset(begin_[N]);
    std::size_t next[N]{};
    for (std::size_t n = 0; n < N; ++n) next[n] = begin_[n];
    for (const offer<N>& o : problem.offers) {
      if (!is_of_place(o)) continue;
      const picoseconds time = to_picoseconds(o.price.seconds);
      kernels_[next[o.nodes.first()]++] = {o.nodes.size(), time, to_picoseconds(o.price.spread), o.serial ? time : 0};
    }
  }

  /// Of the nodes from `first` to before each; those of `until` in front of `first` stay as they are.
  constexpr void find(std::size_t first, run_time (&until)[N + 1]) const {
    for (std::size_t n = first; n <= nodes_; ++n) until[n] = {};
    until[first].is_known = true;
    for (std::size_t n = first; n < nodes_; ++n)
      for (std::size_t k = begin_[n]; k < begin_[n + 1]; ++k) add(kernels_[k], until[n], until[n + kernels_[k].count]);
  }
  /// Of the nodes from each to the end.
  constexpr void find_to_end(run_time (&from)[N + 1]) const {
    from[nodes_] = {true};
    for (std::size_t n = nodes_; n-- > 0;) {
      from[n] = {};
      for (std::size_t k = begin_[n]; k < begin_[n + 1]; ++k) add(kernels_[k], from[n + kernels_[k].count], from[n]);
    }
  }

 private:
  struct kernel {
    std::size_t count = 0;  // of nodes
    picoseconds time = 0, spread = 0, serial = 0;
  };
  static constexpr void add(const kernel& more, const run_time& run, run_time& whole) {
    if (!run.is_known || (whole.is_known && whole.time <= run.time + more.time)) return;
    whole = {true, run.time + more.time, run.spread + more.spread, std::max(run.longest_serial, more.serial)};
  }

  std::size_t nodes_;
  std::size_t begin_[N + 1]{};  // of the kernels whose first node is each
  constexpr_vector<kernel> kernels_;
};

/// On the processor of a node. Of a callable that nobody measured there nothing is known.
template <std::size_t N>
constexpr run_prices<N> prices_there(const graph_info<N>& graph, const device_info& processor,
                                     std::span<const candidate> candidates, std::span<const backend_info> backends,
                                     const cost_table& table) {
  constexpr_vector<backend_info> there;
  for (backend_info b : backends) {
    b.own = {};  // it says what this machine does, not what that one does
    there.push_back(b);
  }
  const std::span<const backend_info> infos(there.data(), there.size());
  const graph_costs<N> costs(graph, infos, table);
  placement_problem<N> problem;
  problem.flow.nodes = graph.nodes.size();
  add_callables(problem, graph, 0, processor, costs);
  for (offer<N>& o : problem.offers)
    if (o.price.origin != cost_origin::measured) o.price = {};
  add_kernels(problem, graph, 0, processor, candidates, infos, costs);
  return {problem, 0};
}

// ---- the ranges ----

/// Where a part of a line goes: its first part, and behind its last.
struct range_of_parts {
  std::size_t first = 0, behind = 0;
};

/// Which ranges of a line may go at all.
struct range_rules {
  bool states_go = false;
  std::size_t most_bytes = any_traffic;  ///< of an item, there and back
};

/// Calls `visit(range, time, is_serial)` for each range that may go and of which it is known what it takes there.
template <std::size_t N, class Visit>
constexpr void for_each_range(const graph_info<N>& graph, std::span<const part_of_line> line,
                              const run_prices<N>& there, const range_rules& rules, Visit visit) {
  run_time until[N + 1];
  for (std::size_t i = 1; i < line.size(); ++i) {
    const std::size_t in_bytes = line[i - 1].out_bytes;
    if (!line[i].may_go || in_bytes == 0) continue;
    there.find(line[i].first, until);
    bool is_serial = false;
    for (std::size_t j = i; j < line.size() && line[j].may_go; ++j) {
      const std::size_t bytes = line[j].out_bytes;
      for (std::size_t n = line[j].first; n < line[j].behind(); ++n)
        is_serial = is_serial || graph.nodes[n].order == concurrency::serial;
      if (is_serial && !rules.states_go) break;
      if (bytes == 0 || in_bytes + bytes > rules.most_bytes || !until[line[j].behind()].is_known) continue;
      visit(range_of_parts{i, j + 1}, until[line[j].behind()], is_serial);
    }
  }
}

/// In place of an offer's candidate.
inline constexpr std::size_t part_elsewhere_offer = ~std::size_t{2};

/// The ranges as offers of a search. One takes all the room there is on their device, so that no second one goes there.
template <std::size_t N>
constexpr void add_ranges(placement_problem<N>& problem, const graph_info<N>& graph, std::size_t device, int workers,
                          std::span<const part_of_line> line, const run_prices<N>& there, std::size_t rank,
                          const range_rules& rules) {
  problem.devices[device] = {workers, 1};
  for_each_range(graph, line, there, rules, [&](const range_of_parts& r, const run_time& run, bool is_serial) {
    const std::size_t first = line[r.first].first, count = line[r.behind - 1].behind() - first;
    problem.offers.push_back({node_set<N>::run(first, count), device, rank,
                              cost::measured(to_seconds(run.time), to_seconds(run.spread)), 1, is_serial,
                              part_elsewhere_offer});
  });
}

// ---- without a search ----

/// How many items the processor here and a node work on at once, the ways between them, and what counts.
struct two_ends {
  int workers_here = 1, workers_there = 1;
  crossing there{}, back{};
  objective goal = objective::latency;

  /// The objective where an item loads both so much, what comes to each among it; each by `more` at worst.
  constexpr picoseconds time(picoseconds load_here, picoseconds load_there, picoseconds longest_serial,
                             picoseconds more = 0) const {
    if (goal == objective::latency) return load_here + load_there + more;
    const auto shared = [&](picoseconds load, int workers) { return (load + more + workers - 1) / workers; };
    return std::max({shared(load_here, workers_here), shared(load_there, workers_there), longest_serial + more});
  }
};

/// The range whose place at a node is the cheapest, where all else is computed by one processor: each is looked at,
/// since what stands before it and behind it has the same price for all. It saves more than the spread of what was
/// measured of its stages, here and there; else none goes.
template <std::size_t N>
constexpr range_of_parts cheapest_range(const graph_info<N>& graph, std::span<const part_of_line> line,
                                        const run_prices<N>& here, const run_prices<N>& there, const two_ends& ends,
                                        const range_rules& rules) {
  run_time before[N + 1], behind[N + 1];
  here.find(0, before);
  here.find_to_end(behind);
  const run_time& all = behind[0];
  range_of_parts best;
  if (!all.is_known) return best;
  const picoseconds at_home = ends.time(all.time, 0, all.longest_serial);
  picoseconds least = at_home;
  for_each_range(graph, line, there, rules, [&](const range_of_parts& r, const run_time& run, bool) {
    const part_of_line& last = line[r.behind - 1];
    const run_time &front = before[line[r.first].first], &rear = behind[last.behind()];
    if (!front.is_known || !rear.is_known) return;
    const picoseconds load_here = front.time + rear.time + to_picoseconds(ends.back.seconds_for(last.out_bytes)),
                      load_there = run.time + to_picoseconds(ends.there.seconds_for(line[r.first - 1].out_bytes)),
                      longest = std::max({front.longest_serial, rear.longest_serial, run.longest_serial}),
                      spread_here = std::max<picoseconds>(all.spread - front.spread - rear.spread, 0),
                      taken = ends.time(load_here, load_there, longest);
    if (taken >= least || ends.time(load_here, load_there, longest, spread_here + run.spread) >= at_home) return;
    least = taken;
    best = r;
  });
  return best;
}

}  // namespace levada::detail
