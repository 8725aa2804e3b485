// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/combine.hpp: the rule that joins what another rule finds into larger sub-graphs, piece by piece, as far
// as they touch and one of the named ways allows it.
//
//   combine(single(op), {.depth = 6, .exits = 1, .taps = false}, unconditionally)
//   combine(single(op), {}, joining{op_kind::out_fusable, op_kind::broadcast}, with_all_it_takes)

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <levada/plan/detail/constexpr_vector.hpp>
#include <levada/plan/rules.hpp>

namespace levada {

/// Whatever touches.
struct merge_unconditionally {};
inline constexpr merge_unconditionally unconditionally{};

/// A piece whose ops are at most of kind `upstream` with one behind it whose ops are at most of kind `downstream`.
struct joining {
  op_kind upstream, downstream;
};

/// A piece that takes several values with all the pieces that give them at once, as a concat with what it concatenates.
struct with_all_it_takes_way {};
inline constexpr with_all_it_takes_way with_all_it_takes{};

namespace detail {

/// A sub-graph that grows, and what is asked again and again whether it may grow further.
template <std::size_t N>
struct grown {
  node_set<N> nodes, producers, takers, before, behind;
  op_kind kind = op_kind::element_wise;  // the least fusible of its ops

  constexpr void absorb(const grown& other) {
    nodes |= other.nodes;
    producers |= other.producers;
    takers |= other.takers;
    before |= other.before;
    behind |= other.behind;
    kind = std::max(kind, other.kind);
  }
  constexpr bool is_convex() const { return nodes.contains(before & behind); }
};

template <std::size_t N>
constexpr bool may_join(merge_unconditionally, const grown<N>&, const grown<N>&) {
  return true;
}
template <std::size_t N>
constexpr bool may_join(levada::joining way, const grown<N>& above, const grown<N>& below) {
  return above.kind <= way.upstream && below.kind <= way.downstream;
}
template <std::size_t N>
constexpr bool may_join(with_all_it_takes_way, const grown<N>&, const grown<N>&) {
  return false;
}

}  // namespace detail

/// See `combine`.
template <rule Rule, class... Ways>
struct combine_rule {
  Rule inner;
  subgraph_limits limits;
  std::tuple<Ways...> ways;

  template <std::size_t N>
  constexpr void find(const rule_graph<N>& g, regions<N>& found) const {
    const regions<N> given = regions_of(inner, g);
    detail::constexpr_vector<detail::grown<N>> all;
    detail::constexpr_vector<std::string_view> composites;  // of the pieces
    detail::constexpr_vector<std::size_t> pieces_at[N];
    node_set_list<N> known;
    for (const region<N>& r : given) {
      detail::grown<N> piece = piece_of(g, r.nodes);
      if (!piece.is_convex() || is_deeper(g.flow, r.nodes, limits.depth)) continue;
      known.add(r.nodes);
      r.nodes.for_each([&](std::size_t n) { pieces_at[n].push_back(all.size()); });
      all.push_back(piece);
      composites.push_back(r.composite);
    }
    // What is not convex never becomes so by growing one piece at a time at its border, nor what is too deep less deep:
    // all others are kept, whatever leaves them, for their exits may be taken inside later.
    const std::size_t pieces = all.size();
    const auto consider = [&](const detail::grown<N>& joined) {
      if (!joined.is_convex() || is_deeper(g.flow, joined.nodes, limits.depth)) return;
      if (known.add(joined.nodes) == all.size()) all.push_back(joined);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      const detail::grown<N> here = all[i];
      ((here.producers | here.takers) - here.nodes).for_each([&](std::size_t n) {
        for (const std::size_t p : pieces_at[n]) {
          const detail::grown<N>& piece = all.data()[p];
          if (piece.nodes.intersects(here.nodes) || !any_way(here, piece)) continue;
          detail::grown<N> joined = here;
          joined.absorb(piece);
          consider(joined);
        }
      });
      if constexpr ((std::is_same_v<Ways, with_all_it_takes_way> || ...))
        if (i < pieces) join_all_taken(here, all, pieces_at, consider);
    }

    for (std::size_t i = 0; i < all.size(); ++i)
      if (exceeded_limit(g.flow, all[i].nodes, limits) == subgraph_fault::none)
        found.push_back({all[i].nodes, i < pieces ? composites[i] : std::string_view{}});
  }
  /// Of nodes that pieces cover.
  template <std::size_t N>
  constexpr subgraph_fault limit_exceeded(const rule_graph<N>& g, const node_set<N>& nodes) const {
    node_set<N> covered;
    for (const region<N>& r : regions_of(inner, g))
      if (nodes.contains(r.nodes)) covered |= r.nodes;
    return covered == nodes ? exceeded_limit(g.flow, nodes, limits) : detail::limit_exceeded(inner, g, nodes);
  }

 private:
  template <std::size_t N>
  static constexpr detail::grown<N> piece_of(const rule_graph<N>& g, const node_set<N>& nodes) {
    detail::grown<N> piece;
    piece.nodes = nodes;
    nodes.for_each([&](std::size_t n) {
      piece.producers |= g.flow.producers[n];
      piece.takers |= g.flow.takers[n];
      piece.before |= g.flow.before[n];
      piece.behind |= g.flow.behind[n];
      piece.kind = std::max(piece.kind, g.graph.nodes[n].fuses_as);
    });
    return piece;
  }

  template <std::size_t N>
  constexpr bool any_way(const detail::grown<N>& a, const detail::grown<N>& b) const {
    const bool a_feeds = a.takers.intersects(b.nodes), b_feeds = b.takers.intersects(a.nodes);
    return std::apply(
        [&](const Ways&... way) {
          return ((a_feeds && detail::may_join(way, a, b)) || ...) || ((b_feeds && detail::may_join(way, b, a)) || ...);
        },
        ways);
  }

  /// Every choice of one piece for each value that `below` takes from other nodes.
  template <std::size_t N, class Consider>
  static constexpr void join_all_taken(const detail::grown<N>& below,
                                       const detail::constexpr_vector<detail::grown<N>>& all,
                                       const detail::constexpr_vector<std::size_t> (&pieces_at)[N],
                                       const Consider& consider) {
    if ((below.producers - below.nodes).size() < 2) return;
    detail::constexpr_vector<detail::grown<N>> partial{below};
    for (std::size_t i = 0; i < partial.size(); ++i) {
      const detail::grown<N> grown_so_far = partial[i];
      const node_set<N> missing = below.producers - grown_so_far.nodes;
      if (missing.empty()) {
        consider(grown_so_far);
        continue;
      }
      for (const std::size_t p : pieces_at[missing.first()]) {
        if (all[p].nodes.intersects(grown_so_far.nodes)) continue;
        partial.push_back(grown_so_far);
        partial.back().absorb(all[p]);
      }
    }
  }
};

/// What `inner` finds, and all that can be made of it within the limits by joining pieces of it that touch in one of
/// the ways: `unconditionally`, `joining{upstream, downstream}`, `with_all_it_takes`.
template <rule Rule, class... Ways>
constexpr auto combine(Rule inner, subgraph_limits limits, Ways... ways) {
  return combine_rule<Rule, Ways...>{inner, limits, {ways...}};
}

}  // namespace levada
