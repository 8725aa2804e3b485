// SPDX-License-Identifier: Apache-2.0
#pragma once
// remote/detail/ranges_there.hpp: the parts of a line that may go to another machine, as values, and what they take on
// its processor: the offers that remote/detail/by_cost.hpp adds to a search.

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

// ---- the offers of a node ----

/// What a run of nodes takes on the processor of a node, from each of them on; unknown where some of it is not known.
template <std::size_t N>
class prices_there {
 public:
  constexpr prices_there(const graph_info<N>& graph, const device_info& processor,
                         std::span<const candidate> candidates, std::span<const backend_info> backends,
                         const cost_table& table)
      : nodes_(graph.nodes.size()) {
    for (backend_info b : backends) {
      b.own = {};  // it says what this machine does, not what that one does
      backends_.push_back(b);
    }
    const std::span<const backend_info> there(backends_.data(), backends_.size());
    const graph_costs<N> known(graph, there, table);
    add_kernels(problem_, graph, 0, processor, candidates, there, known);
    add_callables(problem_, graph, 0, processor, known);
  }

  /// Of the nodes from `first` to before each.
  constexpr void find(std::size_t first, cost (&until)[N + 1]) const {
    for (cost& c : until) c = {};
    until[first] = cost::measured(0);
    for (std::size_t n = first; n < nodes_; ++n) {
      if (until[n].origin == cost_origin::unknown) continue;
      for (const offer<N>& o : problem_.offers) {
        if (o.nodes.first() != n || !is_known(o)) continue;
        cost& behind = until[n + o.nodes.size()];
        const double seconds = until[n].seconds + o.price.seconds;
        if (behind.origin == cost_origin::unknown || seconds < behind.seconds)
          behind = cost::measured(seconds, until[n].spread + o.price.spread);
      }
    }
  }

 private:
  static constexpr bool is_known(const offer<N>& o) {
    return o.candidate == partition_unit::callable ? o.price.origin == cost_origin::measured
                                                   : o.price.origin != cost_origin::unknown;
  }

  std::size_t nodes_;
  constexpr_vector<backend_info> backends_;
  placement_problem<N> problem_;
};

/// In place of an offer's candidate.
inline constexpr std::size_t part_elsewhere_offer = ~std::size_t{2};

/// Where a part of a line goes: its first part, and behind its last.
struct range_of_parts {
  std::size_t first = 0, behind = 0;
};

/// Which ranges of a line may go at all.
struct range_rules {
  bool states_go = false;
  std::size_t most_bytes = any_traffic;  ///< of an item, there and back
};

template <std::size_t N>
constexpr void add_ranges(placement_problem<N>& problem, const graph_info<N>& graph, std::size_t device,
                          std::span<const part_of_line> line, const prices_there<N>& prices, std::size_t rank,
                          const range_rules& rules) {
  cost until[N + 1];
  for (std::size_t i = 1; i < line.size(); ++i) {
    const std::size_t in_bytes = line[i - 1].out_bytes;
    if (!line[i].may_go || in_bytes == 0) continue;
    prices.find(line[i].first, until);
    bool is_serial = false;
    for (std::size_t j = i; j < line.size() && line[j].may_go; ++j) {
      const std::size_t behind = line[j].first + line[j].count, bytes = line[j].out_bytes;
      for (std::size_t n = line[j].first; n < behind; ++n)
        is_serial = is_serial || graph.nodes[n].order == concurrency::serial;
      if (is_serial && !rules.states_go) break;
      if (bytes == 0 || in_bytes + bytes > rules.most_bytes || until[behind].origin == cost_origin::unknown) continue;
      problem.offers.push_back({node_set<N>::run(line[i].first, behind - line[i].first), device, rank, until[behind], 1,
                                is_serial, part_elsewhere_offer});
    }
  }
}

}  // namespace levada::detail
