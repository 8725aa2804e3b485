// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/partition_within.hpp: the best partition among those that keep what a deployment promises of its time, by
// the costs that a promise counts (plan/detail/unit_costs.hpp). Where none does, the one that exceeds it least.
//
// Branches that run at once, feedbacks and slots are no part of the search: all of an item's work counts one after the
// other. What is promised is checked of the plan, whatever was searched.

#include <algorithm>
#include <cstddef>
#include <span>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/limits.hpp>
#include <levada/plan/detail/partition_by_cost.hpp>

namespace levada {

/// Which costs a promise counts, and for how many threads of the processor.
struct promised_costs {
  bool estimates_count = false;
  int threads = 1;
};

template <std::size_t N>
struct partition_within {
  partition<N> parts;       ///< empty where there is none at all
  bool has_choice = false;  ///< there are others
};

namespace detail {

/// The offers that may keep a promise, at their prices.
template <std::size_t N>
constexpr constexpr_vector<offer<N>> promised_offers(const placement_problem<N>& problem, const graph_info<N>& graph,
                                                     std::span<const backend_info> backends, const cost_table& table,
                                                     bool estimates_count) {
  const graph_costs<N> known(graph, backends, table);
  constexpr_vector<offer<N>> offers;
  for (offer<N> o : problem.offers) {
    const bool is_callable = o.candidate == partition_unit::callable;
    const std::size_t first = o.nodes.first();
    if (is_callable && graph.nodes[first].border != loop_border::none)
      o.price = cost::measured(0);
    else if (o.price.origin != cost_origin::measured && !estimates_count)
      continue;
    else if (!is_callable && o.price.origin == cost_origin::unknown)
      o.price = estimate_unit(graph, {.first = first, .count = o.nodes.size(), .backend = o.rank}, backends);
    offers.push_back(o);
  }
  return offers;
}

/// Nobody promises a way that was not measured.
template <std::size_t N>
constexpr void leave_out_assumed_ways(placement_problem<N>& problem, std::span<const device_info> devices,
                                      const cost_table& table) {
  constexpr double never = 100;
  for (std::size_t a = 0; a < devices.size(); ++a)
    for (std::size_t b = 0; b < devices.size(); ++b)
      if (a != b && !find_transfer(table.transfers, devices[a].id, devices[b].id)) problem.crossings[a][b] = {never, 0};
}

}  // namespace detail

/// The question of a deployment that promises its time.
template <std::size_t N>
constexpr placement_problem<N> promised_problem(const graph_info<N>& graph, std::span<const device_info> devices,
                                                std::span<const candidate> candidates,
                                                std::span<const backend_info> backends, const cost_table& table,
                                                const promised_costs& counted) {
  placement_problem<N> problem = deployment_problem(graph, devices, candidates, backends, table);
  problem.offers = detail::promised_offers(problem, graph, backends, table, counted.estimates_count);
  if (!counted.estimates_count) detail::leave_out_assumed_ways(problem, devices, table);
  for (std::size_t d = 0; d < devices.size(); ++d)
    if (devices[d].id.kind == device_kind::cpu) problem.devices[d].workers = counted.threads;
  return problem;
}

template <std::size_t N>
constexpr partition_within<N> choose_partition_within(const graph_info<N>& graph, std::span<const device_info> devices,
                                                      std::span<const candidate> candidates,
                                                      std::span<const backend_info> backends, const cost_table& table,
                                                      objective goal, const plan_limits& limits,
                                                      const promised_costs& counted) {
  partition_within<N> answer;
  if (devices.size() > most_places) return answer;
  const placement_problem<N> problem = promised_problem(graph, devices, candidates, backends, table, counted);
  answer.has_choice = problem.offers.size() != graph.nodes.size();
  const cover<N> chosen =
      best_cover_within(problem, goal, limits, detail::beam_of(objective::throughput, graph.nodes.size())).best;
  if (chosen.complete) answer.parts = partition_of(problem, chosen, graph, devices);
  return answer;
}

/// The regions of a pipeline that changes its rate, of `N` nodes in all, as one question. Between two of them items are
/// on the host, where nothing is launched: a node there, which costs nothing, gives what the later one takes.
template <std::size_t N>
class joined_regions {
 public:
  /// The next region; it runs so often for an item that comes in.
  template <std::size_t M>
  constexpr void add(const placement_problem<M>& region, double runs) {
    const bool is_first = problem_.places.empty();
    const std::size_t entry = problem_.flow.nodes;
    if (is_first)
      begin(region);
    else
      add_entry(region.input_bytes, runs);
    const std::size_t base = problem_.flow.nodes;
    problem_.flow.nodes += region.flow.nodes;
    for (std::size_t n = 0; n < region.flow.nodes; ++n) {
      problem_.bytes[base + n] = region.bytes[n];
      runs_[base + n] = runs;
      if (region.flow.takes_input.contains(n)) {
        if (is_first)
          problem_.flow.takes_input.insert(base + n);
        else
          problem_.flow.connect(entry, base + n);
      }
      region.flow.producers[n].for_each([&](std::size_t p) { problem_.flow.connect(base + p, base + n); });
      if (region.flow.leaving.contains(n)) problem_.flow.leaving.insert(base + n);
    }
    first_offer_.push_back(problem_.offers.size());
    for (offer<M> o : region.offers) {
      node_set<N> nodes;
      o.nodes.for_each([&](std::size_t n) { nodes.insert(base + n); });
      problem_.offers.push_back({nodes, o.place, o.rank, o.price, o.bytes, o.serial, o.candidate});
    }
  }
  constexpr std::size_t nodes() const { return problem_.flow.nodes; }
  constexpr bool has_choice() const { return problem_.offers.size() != problem_.flow.nodes; }

  /// Behind the last region. False where there is no cover.
  constexpr bool search(objective goal, plan_limits limits, std::size_t beam) {
    if (problem_.host == problem_.nowhere) return false;
    problem_.flow.finish();
    limits.runs = runs_;
    best_ = best_cover_within(problem_, goal, limits, beam).best;
    return best_.complete;
  }
  /// Which offers of a region were chosen.
  template <std::size_t M>
  constexpr cover<M> cover_of(std::size_t r, const placement_problem<M>& region) const {
    cover<M> own;
    own.complete = true;
    for (const std::size_t o : best_.chosen)
      if (o >= first_offer_[r] && o < first_offer_[r] + region.offers.size()) own.chosen.push_back(o - first_offer_[r]);
    return own;
  }

 private:
  template <std::size_t M>
  constexpr void begin(const placement_problem<M>& region) {
    problem_.input_bytes = region.input_bytes;
    problem_.devices = region.devices;
    problem_.places = region.places;
    problem_.host = region.host;
    for (std::size_t a = 0; a < region.places.size(); ++a)
      for (std::size_t b = 0; b < region.places.size(); ++b) problem_.crossings[a][b] = region.crossings[a][b];
  }
  constexpr void add_entry(std::size_t bytes, double runs) {
    const std::size_t entry = problem_.flow.nodes++;
    problem_.bytes[entry] = bytes;
    runs_[entry] = runs;
    const std::size_t host = problem_.host == problem_.nowhere ? 0 : problem_.host;
    problem_.offers.push_back({{entry}, host, 0, cost::measured(0), 0, false, partition_unit::callable});
  }

  placement_problem<N> problem_;
  double runs_[N]{};
  detail::constexpr_vector<std::size_t> first_offer_;
  cover<N> best_;
};

}  // namespace levada
