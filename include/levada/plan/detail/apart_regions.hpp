// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/apart_regions.hpp: regions whose nodes do not stand in a row. A unit of a plan is nodes in a row, so a
// graph in which such a region is to be computed as one is put into another order: one in which all its nodes can run,
// and in which each chosen region stands in a row. Only ops move: callables keep their order among themselves.
//
// A unit gives one value. Where a chosen region has several outputs, these become the parts of a whole that it gives,
// as those of a stage of several outputs are.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/candidate.hpp>
#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/cost.hpp>
#include <levada/plan/detail/dataflow.hpp>
#include <levada/plan/detail/node_set_list.hpp>
#include <levada/plan/detail/partition.hpp>
#include <levada/plan/detail/region_runs.hpp>
#include <levada/plan/detail/subgraph.hpp>

namespace levada {

/// Nodes that a backend takes as one, though others stand between them, or several values leave them.
template <std::size_t N>
struct apart_region {
  node_set<N> nodes;
  std::size_t backend = 0;
  bool has_outputs = false;  ///< several
  cost price{};              ///< once somebody looked it up
};
template <std::size_t N>
using apart_regions = detail::constexpr_vector<apart_region<N>>;

/// An order of the nodes of a graph: `node[i]` stands at place i.
template <std::size_t N>
struct node_places {
  bounded<std::size_t, N> node;
  bounded<apart_region<N>, N> joined;  ///< of several outputs, which become parts of one value
  partition<N> units;                  ///< by places, where costs have chosen them; their candidates are not known yet

  constexpr bool is_as_written() const {
    for (std::size_t i = 0; i < node.size(); ++i)
      if (node[i] != i) return false;
    return joined.empty();
  }
  constexpr std::size_t place_of(std::size_t n) const {
    std::size_t i = 0;
    while (node[i] != n) ++i;
    return i;
  }
};

template <std::size_t N>
constexpr bool is_in_a_row(const node_set<N>& nodes) {
  return nodes.last() - nodes.first() + 1 == nodes.size();
}

/// What a kernel takes of nodes anywhere: each value once, in the order in which they take it first.
template <std::size_t N>
constexpr run_inputs inputs_of_set(const graph_info<N>& graph, const node_set<N>& nodes) {
  run_inputs inputs;
  nodes.for_each([&](std::size_t n) {
    for_each_input(graph.nodes[n], [&](std::size_t v) {
      const std::size_t maker = graph.values[v].producer;
      const bool is_inside = maker != value_info::nobody && nodes.contains(maker);
      if (!is_inside && std::find(inputs.begin(), inputs.end(), v) == inputs.end())
        inputs.try_push_back(static_cast<std::uint16_t>(v));
    });
  });
  return inputs;
}

/// Orders in which regions stand in a row, of one graph.
template <std::size_t N>
class region_order {
 public:
  constexpr explicit region_order(const graph_info<N>& graph) : graph_(graph), flow_(make_dataflow(graph)) {
    const std::size_t count = graph.nodes.size();
    std::size_t last_callable = count;
    node_set<N> segment, before_segment;
    std::size_t segments = 0;
    for (std::size_t n = 0; n < count; ++n) {
      waits_for_[n] = flow_.producers[n] | before_segment;
      segment.insert(n);
      segment_of_[n] = segments;
      if (graph.nodes[n].split_after) {
        before_segment |= segment;
        ++segments;
      }
      if (graph.nodes[n].border != loop_border::none) has_loop_ = true;
      if (is_op(graph.nodes[n])) continue;
      if (last_callable != count) waits_for_[n].insert(last_callable);
      last_callable = n;
      if (consumes(graph.nodes[n])) wait_for_takers(n);
    }
    for (std::size_t n = 0; n < count; ++n) {
      beside_[n] = flow_.producers[n] | flow_.takers[n];
      flow_.producers[n].for_each([&](std::size_t p) { beside_[n] |= flow_.takers[p]; });
      if (flow_.takes_input.contains(n)) beside_[n] |= flow_.takes_input;
    }
  }

  constexpr const dataflow<N>& flow() const { return flow_; }
  /// In a feedback nothing moves.
  constexpr bool may_move() const { return !has_loop_; }

  /// Some kernel could compute them as one: ops of one pin between two borders, whose values are taken by themselves
  /// alone but for at most so many.
  constexpr bool is_region(const node_set<N>& nodes, std::size_t most_outputs = 1) const {
    const std::size_t last = nodes.last();
    const node_set<N> exits = exits_of(flow_, nodes);
    bool is = nodes.size() > 1 && exits.contains(last) && exits.size() <= most_outputs && is_convex(flow_, nodes);
    nodes.for_each([&](std::size_t n) {
      const node_info& node = graph_.nodes[n];
      is = is && is_op(node) && node.region == 0 && node.pin == graph_.nodes[last].pin &&
           segment_of_[n] == segment_of_[last];
      if (!is || (n == last && exits.size() == 1)) return;
      is = !flow_.takers[n].empty() && !flow_.leaving.contains(n) && !is_part_value(graph_.values[node.out]);
      if (exits.size() > 1 && exits.contains(n))
        flow_.takers[n].for_each([&](std::size_t t) { is = is && !consumes(graph_.nodes[t]); });
    });
    return is && inputs_of_set(graph_, nodes).size() <= most_inputs;
  }

  /// Calls `visit(set)` for regions of at most `longest` nodes that are not in a row or have several outputs. For each
  /// node not more than `most_of_a_node` sets are looked at.
  template <class Visit>
  constexpr void for_each_apart(std::size_t longest, std::size_t most_outputs, Visit visit) const {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_op(graph_.nodes[n])) continue;
      if (most_outputs > 1)
        for_each_from(n, longest, most_outputs, visit);
      else if (!graph_.nodes[n].more.empty())
        for_each_up_to(n, longest, visit);
    }
  }
  constexpr bool is_apart(const node_set<N>& nodes) const {
    return !is_in_a_row(nodes) || exits_of(flow_, nodes).size() > 1;
  }

  /// The order nearest to the written one in which each of these sets, which have no node in common, stands in a row;
  /// shorter than the graph where there is none.
  template <class Sets>
  constexpr node_places<N> order_with(const Sets& together) const {
    const std::size_t count = graph_.nodes.size();
    node_set<N> waits[N];  // of the group of a node
    std::size_t group[N]{};
    for (std::size_t n = 0; n < count; ++n) group[n] = n;
    for (const node_set<N>& set : together) set.for_each([&](std::size_t n) { group[n] = set.first(); });
    for (std::size_t n = 0; n < count; ++n) waits[group[n]] |= waits_for_[n];
    for (const node_set<N>& set : together) waits[set.first()] -= set;

    node_places<N> order;
    node_set<N> placed;
    for (bool advanced = true; advanced;) {
      advanced = false;
      for (std::size_t n = placed.first_missing(); n < count && !advanced; ++n) {
        if (placed.contains(n) || group[n] != n || !placed.contains(waits[n])) continue;
        for (std::size_t of = n; of < count; ++of)
          if (group[of] == n) {
            placed.insert(of);
            order.node.push_back(of);
          }
        advanced = true;
      }
    }
    return order;
  }
  constexpr bool is_complete(const node_places<N>& order) const { return order.node.size() == graph_.nodes.size(); }

 private:
  static constexpr std::size_t most_of_a_node = 128;

  /// Regions of one output, which that node gives.
  template <class Visit>
  constexpr void for_each_up_to(std::size_t last, std::size_t longest, Visit& visit) const {
    detail::constexpr_vector<node_set<N>> sets{node_set<N>{last}};
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const node_set<N> set = sets[i];
      if (set.size() > 1 && is_apart(set) && is_region(set)) visit(set);
      if (set.size() == longest) continue;
      // Nodes join in descending order, so that each set is met once.
      outer_producers(flow_, set).for_each([&](std::size_t n) {
        if (n >= set.first() || sets.size() >= most_of_a_node || !set.contains(flow_.takers[n])) return;
        if (!is_op(graph_.nodes[n]) || flow_.leaving.contains(n)) return;
        node_set<N> larger = set;
        larger.insert(n);
        sets.push_back(larger);
      });
    }
  }
  /// Regions whose first node is that one, and of which each other gives something to one of them, takes it from one or
  /// takes what one takes, too.
  template <class Visit>
  constexpr void for_each_from(std::size_t first, std::size_t longest, std::size_t most_outputs, Visit& visit) const {
    node_set_list<N> sets;
    sets.add({first});
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const node_set<N> set = sets[i];
      if (set.size() > 1 && is_apart(set) && is_region(set, most_outputs)) visit(set);
      if (set.size() == longest) continue;
      node_set<N> beside;
      set.for_each([&](std::size_t n) { beside |= beside_[n]; });
      (beside - set).for_each([&](std::size_t n) {
        if (n < first || sets.size() >= most_of_a_node || !is_op(graph_.nodes[n])) return;
        node_set<N> larger = set;
        larger.insert(n);
        sets.add(larger);
      });
    }
  }

  /// What changes or destroys a value comes behind all that take it, or a part or the whole of it.
  constexpr void wait_for_takers(std::size_t n) {
    const auto whole_of = [&](std::size_t v) { return is_part_value(graph_.values[v]) ? graph_.values[v].part_of : v; };
    const std::size_t consumed = whole_of(graph_.nodes[n].in);
    for (std::size_t other = 0; other < n; ++other)
      for_each_input(graph_.nodes[other], [&](std::size_t v) {
        if (whole_of(v) == consumed) waits_for_[n].insert(other);
      });
  }

  const graph_info<N>& graph_;
  dataflow<N> flow_;
  node_set<N> waits_for_[N];  // that come before a node in any order
  node_set<N> beside_[N];
  std::size_t segment_of_[N]{};
  bool has_loop_ = false;
};

namespace detail {

/// A graph in another order, with room for the wholes of `More` regions of several outputs.
template <std::size_t N, std::size_t More>
class ordered_graph {
 public:
  constexpr ordered_graph(const graph_info<N>& graph, const node_places<N>& order) : graph_(graph), order_(order) {
    made_.source = graph.source;
    made_.ends_in_sink = graph.ends_in_sink;
    made_.side_bytes = graph.side_bytes;
    made_.side_alignment = graph.side_alignment;
    made_.has_joined_outputs = !order.joined.empty();
    for (std::size_t i = 0; i < order.node.size(); ++i) place_[order.node[i]] = i;
    order_values();
    for (std::size_t i = 0; i < order.node.size(); ++i) {
      node_info node = graph.nodes[order.node[i]];
      node.in = value_[node.in];
      node.out = value_[node.out];
      for (std::uint16_t& v : node.more) v = static_cast<std::uint16_t>(value_[v]);
      node.split_after = graph.nodes[i].split_after;  // borders stay where they are
      made_.nodes.push_back(node);
    }
    for (const apart_region<N>& r : order.joined) join_outputs(r.nodes);
  }

  constexpr const graph_info<N + More>& made() const { return made_; }

 private:
  constexpr void order_values() {
    add_values_of(value_info::nobody);
    for (const std::size_t n : order_.node) {
      for (const apart_region<N>& r : order_.joined)
        if (r.nodes.first() == n) {
          whole_of_[r.nodes.first()] = made_.values.size();
          made_.values.push_back({});
        }
      add_values_of(n);
    }
    // A whole that leaves is behind the parts that it is made of.
    for (std::size_t v = 0; v < graph_.values.size(); ++v)
      if (is_made_of_parts(v)) add_value(v);
    for (value_info& v : made_.values) {
      if (v.producer != value_info::nobody) v.producer = place_[v.producer];
      if (is_part_value(v)) v.part_of = value_[v.part_of];
    }
    made_.result = value_[graph_.result];
  }
  constexpr void add_value(std::size_t v) {
    value_[v] = made_.values.size();
    made_.values.push_back(graph_.values[v]);
  }
  constexpr void add_values_of(std::size_t producer) {
    for (std::size_t v = 0; v < graph_.values.size(); ++v)
      if (graph_.values[v].producer == producer && !is_made_of_parts(v)) add_value(v);
  }
  constexpr bool is_made_of_parts(std::size_t v) const {
    if (graph_.ends_in_sink || v != graph_.result) return false;
    for (std::size_t part = 0; part < v; ++part)
      if (graph_.values[part].part_of == v) return true;
    return false;
  }

  /// The whole lies as `named_items` of its parts does.
  constexpr void join_outputs(const node_set<N>& nodes) {
    const std::size_t whole = whole_of_[nodes.first()];
    node_info& last = made_.nodes[place_[nodes.last()]];
    constexpr_vector<std::size_t> parts;
    exits_of(make_dataflow(graph_), nodes).for_each([&](std::size_t n) {
      parts.push_back(value_[graph_.nodes[n].out]);
    });
    const auto rounded = [](std::size_t bytes, std::size_t alignment) {
      return (bytes + alignment - 1) / alignment * alignment;
    };
    value_info all;
    all.bytes = 0;
    all.trivial = true;
    all.producer = place_[nodes.last()];
    for (std::size_t k = parts.size(); k-- > 0;) {  // each, and behind it the rest
      value_info& part = made_.values[parts[k]];
      const std::size_t rest = rounded(part.bytes, all.alignment);
      for (std::size_t behind = k + 1; behind < parts.size(); ++behind) made_.values[parts[behind]].part_offset += rest;
      all.alignment = std::max(all.alignment, part.alignment);
      all.bytes = rounded(k + 1 == parts.size() ? part.bytes : rest + all.bytes, all.alignment);
      all.trivial = all.trivial && part.trivial;
      part.part_of = whole;
    }
    made_.values[whole] = all;
    last.out = whole;
    last.reuses = reuse::none;
  }

  const graph_info<N>& graph_;
  const node_places<N>& order_;
  graph_info<N + More> made_;
  std::array<std::size_t, N + 1> value_{};  // the new number of each
  std::array<std::size_t, N> place_{}, whole_of_{};
};

}  // namespace detail

/// The graph in another order, with the outputs of at most `More` regions as parts of a whole.
template <std::size_t More = 0, std::size_t N>
constexpr graph_info<N + More> graph_in_order(const graph_info<N>& graph, const node_places<N>& order) {
  return detail::ordered_graph<N, More>(graph, order).made();
}

/// The order of a graph in which those regions apart stand in a row that are preferred: of the backend named first,
/// then the largest, where no backend named before takes their first node and none of its own takes as many in a row.
template <std::size_t N>
constexpr node_places<N> preferred_order(const graph_info<N>& graph, const apart_regions<N>& apart,
                                         std::span<const candidate> candidates) {
  const region_order<N> orders(graph);
  const auto is_preferred = [&](const apart_region<N>& r) {
    for (const candidate& c : candidates) {
      if (c.first != r.nodes.first()) continue;
      if (c.backend < r.backend || (c.backend == r.backend && c.count >= r.nodes.size())) return false;
    }
    return true;
  };
  detail::constexpr_vector<std::size_t> sorted;
  for (std::size_t i = 0; i < apart.size(); ++i)
    if (is_preferred(apart[i])) sorted.push_back(i);
  std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    const apart_region<N>&first = apart[a], &second = apart[b];
    if (first.backend != second.backend) return second.backend > first.backend;
    const std::size_t of_first = first.nodes.size(), of_second = second.nodes.size();
    return of_first != of_second ? of_first > of_second : a < b;
  });

  bounded<node_set<N>, N> together;
  node_set<N> taken;
  node_places<N> order = orders.order_with(together);
  for (const std::size_t i : sorted) {
    if (taken.intersects(apart[i].nodes)) continue;
    auto more = together;
    more.push_back(apart[i].nodes);
    const node_places<N> with = orders.order_with(more);
    if (!orders.is_complete(with)) continue;
    together = more;
    taken |= apart[i].nodes;
    auto joined = order.joined;
    if (apart[i].has_outputs) joined.push_back(apart[i]);
    order = with;
    order.joined = joined;
  }
  return order;
}

/// The partition that an order was made for, of the graph in that order; empty where there is none, or a candidate of
/// it is missing.
template <std::size_t M, std::size_t N>
constexpr partition<M> partition_of_order(const node_places<N>& order, const graph_info<M>& graph,
                                          std::span<const candidate> candidates) {
  partition<M> units;
  for (partition_unit unit : order.units) {
    if (unit.backend != partition_unit::callable)
      for (std::size_t c = 0; c < candidates.size(); ++c)
        if (candidates[c].first == unit.first && candidates[c].count == unit.count &&
            candidates[c].backend == unit.backend)
          unit.candidate = c;
    if (unit.backend != partition_unit::callable && unit.candidate == partition_unit::callable) return {};
    unit.starts_segment =
        units.empty() || graph.nodes[unit.first - 1].split_after || units.back().device != unit.device;
    units.push_back(unit);
  }
  return units;
}

}  // namespace levada
