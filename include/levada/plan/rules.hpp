// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/rules.hpp: the regions that a backend takes as one: values that find all of them in a graph (the partition
// rules of Collage, TVM RFC 62). plan/detail/combine.hpp has the rule that joins what another finds.
//
//   constexpr auto takes = union_of(matching(is("relu")(is("conv2d"))), single(named_kind{"dense"}));
//   const auto regions = regions_of(takes, rule_graph(graph));

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/detail/node_set_list.hpp>
#include <levada/plan/detail/pattern.hpp>
#include <levada/plan/detail/subgraph.hpp>

namespace levada {

/// A result of a rule: nodes that a backend takes as one, and their name.
template <std::size_t N>
struct region {
  node_set<N> nodes;
  std::string_view composite;  ///< the name that `composite` gave, if any
};

/// Regions in the order they were found; of the same nodes only the first.
template <std::size_t N>
using regions = detail::constexpr_vector<region<N>>;

/// A graph and its edges, as rules look at it.
template <std::size_t N>
struct rule_graph {
  const graph_info<N>& graph;
  dataflow<N> flow;

  constexpr explicit rule_graph(const graph_info<N>& g) : graph(g), flow(make_dataflow(g)) {}
};

/// A value with `template <std::size_t N> constexpr void find(const rule_graph<N>&, regions<N>&) const`, which appends.
template <class T>
concept rule = requires(const T& r, const rule_graph<1>& graph, regions<1>& found) { r.find(graph, found); };

/// All that a rule finds, each set of nodes once.
template <rule Rule, std::size_t N>
constexpr regions<N> regions_of(const Rule& takes, const rule_graph<N>& graph) {
  regions<N> all, once;
  takes.find(graph, all);
  node_set_list<N> known;
  for (const region<N>& r : all)
    if (known.add(r.nodes) == once.size()) once.push_back(r);
  return once;
}

namespace detail {

/// The limit for which a rule leaves out a region that it would find otherwise, if that is why.
template <class Rule, std::size_t N>
constexpr subgraph_fault limit_exceeded(const Rule& rule, const rule_graph<N>& graph, const node_set<N>& nodes) {
  if constexpr (requires { rule.limit_exceeded(graph, nodes); })
    return rule.limit_exceeded(graph, nodes);
  else
    return subgraph_fault::none;
}

template <std::size_t N>
constexpr bool has_found(const regions<N>& found, const node_set<N>& nodes) {
  for (const levada::region<N>& r : found)
    if (r.nodes == nodes) return true;
  return false;
}

}  // namespace detail

/// Every node of which the predicate, a function of a node_info, says yes, alone.
template <class Predicate>
struct single_rule {
  Predicate predicate;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    for (std::size_t n = 0; n < g.graph.nodes.size(); ++n)
      if (predicate(g.graph.nodes[n])) found.push_back({{n}, {}});
  }
};
template <class Predicate>
constexpr auto single(Predicate predicate) {
  return single_rule<Predicate>{predicate};
}

/// Every op of that kind, alone.
constexpr auto single(op_kind kind) {
  return single([kind](const node_info& node) { return is_op(node) && node.fuses_as == kind; });
}

/// Every region that matches the pattern.
template <graph_pattern Pattern>
struct pattern_rule {
  Pattern pattern;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    for (std::size_t n = 0; n < g.graph.nodes.size(); ++n) {
      node_set<N> nodes;
      if (g.graph.nodes[n].how != form::sink && pattern.match(g.graph, g.graph.nodes[n].out, nodes))
        found.push_back({nodes, {}});
    }
  }
};
template <graph_pattern Pattern>
constexpr auto matching(Pattern pattern) {
  return pattern_rule<Pattern>{pattern};
}

/// Every chain of at most `longest` nodes that the predicate takes, of which each feeds the next and nobody else.
template <class Predicate>
struct chain_rule {
  Predicate predicate;
  std::size_t longest = 0;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    for (std::size_t first = 0; first < g.graph.nodes.size(); ++first) {
      node_set<N> nodes;
      for (std::size_t n = first, length = 0; length < longest && predicate(g.graph.nodes[n]); ++length) {
        nodes.insert(n);
        found.push_back({nodes, {}});
        if (g.flow.leaving.contains(n) || g.flow.takers[n].size() != 1) break;
        n = g.flow.takers[n].first();
      }
    }
  }
};
template <class Predicate>
constexpr auto chains(Predicate predicate, std::size_t longest) {
  return chain_rule<Predicate>{predicate, longest};
}

/// All results of several rules.
template <rule... Rules>
struct union_rule {
  std::tuple<Rules...> rules;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    std::apply([&](const Rules&... each) { (each.find(g, found), ...); }, rules);
  }
  template <std::size_t N>
  constexpr subgraph_fault limit_exceeded(const rule_graph<N>& g, const node_set<N>& nodes) const {
    auto first = subgraph_fault::none;
    const auto ask = [&](const auto& each) {
      if (first == subgraph_fault::none) first = detail::limit_exceeded(each, g, nodes);
    };
    std::apply([&](const Rules&... each) { (ask(each), ...); }, rules);
    return first;
  }
};
template <rule... Rules>
constexpr auto union_of(Rules... rules) {
  return union_rule<Rules...>{{rules...}};
}

/// The results of a rule, by a name that the backend knows.
template <rule Rule>
struct composite_rule {
  std::string_view name;
  Rule inner;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    const std::size_t before = found.size();
    inner.find(g, found);
    for (std::size_t i = before; i < found.size(); ++i) found[i].composite = name;
  }
  template <std::size_t N>
  constexpr subgraph_fault limit_exceeded(const rule_graph<N>& g, const node_set<N>& nodes) const {
    return detail::limit_exceeded(inner, g, nodes);
  }
};
template <rule Rule>
constexpr auto composite(std::string_view name, Rule inner) {
  return composite_rule<Rule>{name, inner};
}

/// Those results of a rule that can be computed as one within the limits.
template <rule Rule>
struct only_valid_rule {
  Rule inner;
  subgraph_limits limits;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    regions<N> all;
    inner.find(g, all);
    for (const region<N>& r : all)
      if (fault_of(g.flow, r.nodes, limits) == subgraph_fault::none) found.push_back(r);
  }
  template <std::size_t N>
  constexpr subgraph_fault limit_exceeded(const rule_graph<N>& g, const node_set<N>& nodes) const {
    regions<N> all;
    inner.find(g, all);
    return detail::has_found(all, nodes) ? fault_of(g.flow, nodes, limits) : detail::limit_exceeded(inner, g, nodes);
  }
};
template <rule Rule>
constexpr auto only_valid(Rule inner, subgraph_limits limits = {}) {
  return only_valid_rule<Rule>{inner, limits};
}

/// Whether a rule finds a run of nodes, and the limit that it exceeds if that is why it does not.
struct rule_answer {
  bool is_found = false;
  subgraph_fault limit = subgraph_fault::none;
};
/// `deploy` finds it as it does `keep_found`.
template <rule Rule, std::size_t N>
constexpr rule_answer ask_rule(const Rule& takes, const graph_info<N>& graph, std::size_t first, std::size_t count) {
  const rule_graph<N> g(graph);
  const node_set<N> nodes = node_set<N>::run(first, count);
  regions<N> found;
  takes.find(g, found);
  if (detail::has_found(found, nodes)) return {true};
  return {false, detail::limit_exceeded(takes, g, nodes)};
}

/// Calls `visit` with each set of nodes that a rule finds. `deploy` finds it as it does `keep_found`.
template <rule Rule, std::size_t N, class Visit>
constexpr void for_each_found(const Rule& takes, const graph_info<N>& graph, Visit visit) {
  for (const region<N>& r : regions_of(takes, rule_graph<N>(graph))) visit(r.nodes);
}

/// Takes those candidates of a backend away that its rule does not find. `deploy` finds it by its arguments, so that
/// only the header of a backend with rules includes this.
template <rule Rule, std::size_t N, class Candidates>
constexpr void keep_found(const Rule& takes, const graph_info<N>& graph, std::size_t backend, Candidates& candidates) {
  regions<N> found;
  takes.find(rule_graph<N>(graph), found);
  node_set_list<N> known;
  for (const region<N>& r : found) known.add(r.nodes);
  const std::size_t count = known.size();
  Candidates kept;
  for (const auto& c : candidates)
    if (c.backend != backend || known.add(node_set<N>::run(c.first, c.count)) < count) kept.push_back(c);
  candidates = kept;
}

}  // namespace levada
