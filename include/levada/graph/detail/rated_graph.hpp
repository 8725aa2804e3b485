// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/rated_graph.hpp: graphs whose nodes change their rate: as a fork of such branches
// (graph/detail/rated_fork.hpp), for any graph. What a node takes from several comes at one rate. Outputs may leave at
// different rates: each item of the graph then has what they gave, as `std::optional`s.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/graph.hpp>
#include <levada/graph/detail/join.hpp>
#include <levada/graph/detail/rated_fork.hpp>
#include <levada/graph/detail/wiring.hpp>

namespace levada::detail {

template <class... Parts>
concept some_node_changes_rate = any_true({changes_rate<typename flatten_node<Parts, void>::type>...});

/// The types of a port, a node or an output.
template <class Part>
struct graph_piece;
template <fixed_string Name, class T>
struct graph_piece<port_part<Name, T>> {
  static constexpr auto name = Name;
  using item = T;
};
template <fixed_string Name, class T, class Pace>
struct graph_piece<paced_port<Name, T, Pace>> : graph_piece<port_part<Name, T>> {};
template <class Part, fixed_string Name, fixed_string... From>
struct graph_piece<node_part<Part, Name, From...>> {
  static constexpr auto name = Name;
  using part = Part;
};
template <fixed_string Name, fixed_string From>
struct graph_piece<output_part<Name, From>> {
  static constexpr auto name = Name;
};

/// The wiring of a graph whose nodes take whole ones.
template <class... Parts>
struct rated_wiring : graph_wiring<Parts...> {
  using base = graph_wiring<Parts...>;
  using base::members, base::names, base::size;
  static constexpr std::size_t count(graph_member::kind_type kind) {
    std::size_t n = 0;
    for (const graph_member& m : members) n += m.kind == kind ? 1u : 0u;
    return n;
  }
  static constexpr std::size_t ports = count(graph_member::port), outputs = count(graph_member::output);
  static constexpr std::size_t first_output = size - outputs;
  /// The piece that gives the `k`-th of what piece `i` takes.
  static constexpr std::size_t source(std::size_t i, std::size_t k) { return names.from(i, k).member; }
  static constexpr bool takes_from(std::size_t i, std::size_t j) {
    for (std::size_t k = 0; k < members[i].from.size(); ++k)
      if (source(i, k) == j) return true;
    return false;
  }
  /// The first that takes a part of what a node gives, and the first node that nobody takes from.
  static constexpr std::size_t partial = [] {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < members[i].from.size(); ++k)
        if (!names.from(i, k).is_whole) return i;
    return size;
  }();
  static constexpr std::size_t untaken = [] {
    for (std::size_t j = 0; j < first_output; ++j)
      if (names.takers[j] == 0) return j;
    return size;
  }();
};

/// A graph that is given items of type `In`.
template <class Device, class In, class... Parts>
struct given_graph {
  using device = Device;
  using in = In;
  using wiring = rated_wiring<Parts...>;
  template <std::size_t I>
  using piece = graph_piece<type_at<type_list<Parts...>, I>>;
  template <std::size_t I>
  using indices = std::make_index_sequence<wiring::members[I].from.size()>;
};

/// What a piece gives; what it takes, which one gives or several.
template <class Graph, std::size_t I, graph_member::kind_type = Graph::wiring::members[I].kind>
struct graph_item;
template <class Graph, std::size_t I, class Indices = typename Graph::template indices<I>>
struct graph_input;
template <class Graph, std::size_t I>
struct graph_input<Graph, I, std::index_sequence<0>> : graph_item<Graph, Graph::wiring::source(I, 0)> {};
template <class Graph, std::size_t I, std::size_t... K>
  requires(sizeof...(K) > 1)
struct graph_input<Graph, I, std::index_sequence<K...>>
    : type_tag<branch_items<typename graph_item<Graph, Graph::wiring::source(I, K)>::type...>> {};

template <class Graph, std::size_t I>
using graph_node =
    rated_branch<typename Graph::device, typename Graph::template piece<I>::part, typename graph_input<Graph, I>::type>;

template <class Graph, std::size_t I>
struct graph_item<Graph, I, graph_member::port> : type_tag<typename Graph::template piece<I>::item> {};
template <class Graph, std::size_t I>
  requires(Graph::wiring::ports == 1)
struct graph_item<Graph, I, graph_member::port> : type_tag<typename Graph::in> {};
template <class Graph, std::size_t I>
struct graph_item<Graph, I, graph_member::node> : type_tag<typename graph_node<Graph, I>::out> {};
template <class Graph, std::size_t I>
struct graph_item<Graph, I, graph_member::output> : graph_input<Graph, I> {};

/// What a piece has given by when, and how much of n items; what those have that it takes from.
template <class Graph, std::size_t I, graph_member::kind_type = Graph::wiring::members[I].kind>
struct graph_bounds {
  static constexpr rate_bounds value{};
  static constexpr std::int64_t given(std::int64_t n, bool) { return n; }
};
template <class Graph, std::size_t I, class Indices = typename Graph::template indices<I>>
struct bounds_before;
template <class Graph, std::size_t I, std::size_t... K>
struct bounds_before<Graph, I, std::index_sequence<K...>> {
  static constexpr rate_bounds value[] = {graph_bounds<Graph, Graph::wiring::source(I, K)>::value...};
  static constexpr std::int64_t given(std::size_t k, std::int64_t n, bool ended) {
    constexpr std::int64_t (*each[])(std::int64_t,
                                     bool) = {&graph_bounds<Graph, Graph::wiring::source(I, K)>::given...};
    return each[k](n, ended);
  }
};
template <class Graph, std::size_t I>
struct graph_bounds<Graph, I, graph_member::node> {
  using before = bounds_before<Graph, I>;
  static constexpr rate_bounds value = behind(joined(before::value), graph_node<Graph, I>::bounds);
  static constexpr std::int64_t given(std::int64_t n, bool ended) {
    std::int64_t met = before::given(0, n, ended);
    for (std::size_t k = 1; k < Graph::wiring::members[I].from.size(); ++k)
      met = std::min(met, before::given(k, n, ended));
    return graph_node<Graph, I>::given(met, ended);
  }
};
template <class Graph, std::size_t I>
struct graph_bounds<Graph, I, graph_member::output> {
  static constexpr rate_bounds value = bounds_before<Graph, I>::value[0];
  static constexpr std::int64_t given(std::int64_t n, bool ended) {
    return bounds_before<Graph, I>::given(0, n, ended);
  }
};

/// What leaves: of several outputs at different rates, one item for each of the fastest, in which the others are there
/// or not.
template <class Graph, class Indices = std::make_index_sequence<Graph::wiring::outputs>>
struct graph_outputs;
template <class Graph, std::size_t... O>
struct graph_outputs<Graph, std::index_sequence<O...>> {
  static constexpr std::size_t first = Graph::wiring::first_output;
  static constexpr rate_bounds bounds[] = {graph_bounds<Graph, first + O>::value...};
  static constexpr bool have_one_rate = unbalanced_branch(bounds) == sizeof...(O);
  static constexpr std::size_t fastest = [] {
    std::size_t at = 0;
    for (std::size_t o = 1; o < sizeof...(O); ++o) at = bounds[at].slope < bounds[o].slope ? o : at;
    return at;
  }();
  template <class T>
  using held = std::conditional_t<have_one_rate, T, std::optional<T>>;
  using type = named_items<
      named_item<Graph::template piece<first + O>::name, held<typename graph_item<Graph, first + O>::type>>...>;
};
template <class Graph>
struct graph_outputs<Graph, std::index_sequence<0>> : graph_item<Graph, Graph::wiring::first_output> {
  static constexpr rate_bounds bounds[] = {graph_bounds<Graph, Graph::wiring::first_output>::value};
  static constexpr bool have_one_rate = true;
  static constexpr std::size_t fastest = 0;
};

/// The ring of an output that leaves with the fastest: what it has given waits for the next item of that, and for
/// nothing else. `given(output, n, ended)` counts.
template <class Given>
constexpr std::size_t room_beside_fastest(std::span<const rate_bounds> bounds, std::size_t fastest, std::size_t output,
                                          const Given& given) {
  const rate_bounds &here = bounds[output], &fast = bounds[fastest];
  const std::int64_t last = counted_items(joined(bounds));
  if (last > most_counted) {
    const rational most = here.slope + here.lead + here.lag + here.at_end + fast.lead + fast.lag + rational(1);
    return static_cast<std::size_t>(most.n / most.d);
  }
  std::int64_t room = 1, waiting = 0;
  for (std::int64_t n = 1; n <= last; ++n) {
    waiting += given(output, n, false) - given(output, n - 1, false);
    room = std::max(room, waiting);
    waiting = std::max<std::int64_t>(0, waiting - (given(fastest, n, false) - given(fastest, n - 1, false)));
    room = std::max(room, waiting + given(output, n, true) - given(output, n, false));
  }
  return static_cast<std::size_t>(room);
}

/// The rings of a graph: those of its nodes that take from several, and one at each output, where what waits for all of
/// them waits.
template <class Graph>
struct graph_rings {
  using wiring = typename Graph::wiring;
  static constexpr std::size_t nodes = wiring::first_output + 1;
  using network = rate_network<nodes>;
  static constexpr bool at_outputs(std::size_t i) { return i >= wiring::first_output; }
  static constexpr bool has_rings(std::size_t i) { return at_outputs(i) || wiring::members[i].from.size() > 1; }

  /// What piece `I` takes as its `k`-th, where each item goes through all nodes before the next does.
  template <std::size_t I>
  static constexpr std::size_t room(std::size_t k) {
    if constexpr (at_outputs(I) && !graph_outputs<Graph>::have_one_rate)
      return room_beside_fastest(
          graph_outputs<Graph>::bounds, graph_outputs<Graph>::fastest, I - wiring::first_output,
          [](std::size_t o, std::int64_t n, bool ended) { return given_by_output(o, n, ended); });
    else if constexpr (at_outputs(I))
      return ring_of_branch(graph_outputs<Graph>::bounds, I - wiring::first_output,
                            [](std::size_t o, std::int64_t n, bool ended) { return given_by_output(o, n, ended); })
          .room;
    else
      return ring_of_branch(bounds_before<Graph, I>::value, k, &bounds_before<Graph, I>::given).room;
  }
  template <std::size_t... O>
  static constexpr std::int64_t output(std::index_sequence<O...>, std::size_t o, std::int64_t n, bool ended) {
    constexpr std::int64_t (*each[])(std::int64_t, bool) = {&graph_bounds<Graph, wiring::first_output + O>::given...};
    return each[o](n, ended);
  }
  static constexpr std::int64_t given_by_output(std::size_t o, std::int64_t n, bool ended) {
    return output(std::make_index_sequence<wiring::outputs>(), o, n, ended);
  }

  /// The smallest that do not deadlock, of all together: none of them can be smaller. Node by node; the outputs are one
  /// node.
  static constexpr bool are_searched =
      graph_outputs<Graph>::have_one_rate && wiring::outputs <= network::most_joined &&
      counted_items(joined(graph_outputs<Graph>::bounds)) * static_cast<std::int64_t>(nodes) <= most_searched;
  static constexpr network as_network = [] {
    network all;
    for (std::size_t i = 0; i < wiring::first_output; ++i) {
      all.nodes[i].takes = wiring::members[i].from.size();
      all.nodes[i].has_rings = has_rings(i);
      for (std::size_t k = 0; k < wiring::members[i].from.size(); ++k) all.nodes[i].from[k] = wiring::source(i, k);
    }
    all.nodes[nodes - 1].has_rings = true;
    for (std::size_t o = 0; are_searched && o < wiring::outputs; ++o)
      all.nodes[nodes - 1].from[all.nodes[nodes - 1].takes++] = wiring::source(wiring::first_output + o, 0);
    return all;
  }();
  template <std::size_t... I>
  static constexpr std::int64_t made(std::index_sequence<I...>, std::size_t node, std::int64_t n) {
    constexpr std::int64_t (*each[])(std::int64_t, bool) = {&made_by<I>...};
    return node + 1 == nodes ? n : each[node](n, false);
  }
  template <std::size_t I>
  static constexpr std::int64_t made_by(std::int64_t n, bool ended) {
    if constexpr (wiring::members[I].kind == graph_member::node)
      return graph_node<Graph, I>::given(n, ended);
    else
      return n;
  }

  /// A ring: at which piece, and which of those that it takes.
  struct place {
    std::size_t piece = 0, k = 0;
  };
  static constexpr std::size_t count = [] {
    std::size_t rings = 0;
    for (std::size_t i = 0; i < wiring::size; ++i) rings += has_rings(i) ? wiring::members[i].from.size() : 0;
    return rings;
  }();
  static constexpr std::array<place, count> places = [] {
    std::array<place, count> all;
    std::size_t next = 0;
    for (std::size_t i = 0; i < wiring::size; ++i)
      for (std::size_t k = 0; has_rings(i) && k < wiring::members[i].from.size(); ++k) all[next++] = {i, k};
    return all;
  }();
  static constexpr place in_network(place p) {
    return at_outputs(p.piece) ? place{nodes - 1, p.piece - wiring::first_output} : p;
  }

  /// Behind the search of the first `R` rings; each is a constant of its own, since compilers bound what one may take.
  template <std::size_t R, class = void>
  struct searched {
    static constexpr typename network::capacities value = [] {
      auto sizes = searched<R - 1>::value;
      constexpr place at = in_network(places[R - 1]);
      sizes[at.piece][at.k] = as_network.smallest(
          [](std::size_t node, std::int64_t n) {
            return made(std::make_index_sequence<wiring::first_output>(), node, n);
          },
          sizes, counted_items(joined(graph_outputs<Graph>::bounds)), at.piece, at.k);
      return sizes;
    }();
  };
  template <class Dependent>
  struct searched<0, Dependent> {
    static constexpr typename network::capacities value = []<std::size_t... R>(std::index_sequence<R...>) {
      typename network::capacities sizes{};
      ((sizes[in_network(places[R]).piece][in_network(places[R]).k] = room<places[R].piece>(places[R].k)), ...);
      return sizes;
    }(std::make_index_sequence<count>());
  };
  template <std::size_t R>
  static constexpr ring_size ring = [] {
    constexpr place at = places[R], there = in_network(at);
    const std::size_t needed = room<at.piece>(at.k);
    if constexpr (are_searched)
      return ring_size{needed, searched<count>::value[there.piece][there.k]};
    else
      return ring_size{needed, needed};
  }();
};

/// One of those at `At` comes at another rate than the first.
template <fixed_string At, std::size_t Other>
consteval auto different_rates(const auto& bounds_of) {
  constexpr auto& bounds = std::remove_cvref_t<decltype(bounds_of)>::value;
  constexpr rate_ratio first = as_ratio(bounds[0].slope), second = as_ratio(bounds[Other].slope);
  return graph_takes_together_what_comes_at_different_rates<At, given_of<first.gives, first.takes>, Other,
                                                            given_of<second.gives, second.takes>>{};
}

/// What is wrong with a graph whose names are right, from the `I`-th piece on.
template <class Graph, std::size_t I>
consteval auto mistake_of_pieces() {
  using wiring = typename Graph::wiring;
  if constexpr (I == wiring::first_output) {
    return no_mistake{};
  } else if constexpr (wiring::members[I].kind == graph_member::port) {
    return mistake_of_pieces<Graph, I + 1>();
  } else {
    using before = bounds_before<Graph, I>;
    constexpr std::size_t other = unbalanced_branch(before::value);
    if constexpr (other < wiring::members[I].from.size())
      return different_rates<Graph::template piece<I>::name, other>(before{});
    else if constexpr (graph_node<Graph, I>::mistake::is_mistake)
      return typename graph_node<Graph, I>::mistake{};
    else
      return mistake_of_pieces<Graph, I + 1>();
  }
}

/// The graph as a rate.
template <class Device, class... Parts>
struct graph_rate {
  static constexpr fixed_string name = "graph";
  using wiring = rated_wiring<Parts...>;
  template <class In>
  using graph = given_graph<Device, In, Parts...>;

  template <class In>
  static consteval auto mistake_in() {
    using names = decltype(wiring_mistake<typename flat_graph<Device, Parts...>::type>());
    if constexpr (names::is_mistake)
      return names{};
    else if constexpr (wiring::partial < wiring::size)
      return graph_that_changes_its_rate_takes_whole_nodes<graph<In>::template piece<wiring::partial>::name>{};
    else if constexpr (wiring::untaken < wiring::size)
      return nothing_in_the_graph_takes_what_this_gives<graph<In>::template piece<wiring::untaken>::name>{};
    else
      return mistake_of_pieces<graph<In>, 0>();
  }

  template <class In>
    requires correct<decltype(mistake_in<In>())>
  using output = typename graph_outputs<graph<In>>::type;
  template <class In>
  using outputs = graph_outputs<graph<In>>;
  template <class In>
  static constexpr rate_ratio ratio = as_ratio(outputs<In>::bounds[outputs<In>::fastest].slope);
  /// What waits for the fastest at the end.
  template <class In>
  static constexpr std::int64_t most_left() {
    return []<std::size_t... O>(std::index_sequence<O...>) {
      return static_cast<std::int64_t>(
          std::max({graph_rings<graph<In>>::template room<wiring::first_output + O>(0)...}));
    }(std::make_index_sequence<wiring::outputs>());
  }
  template <class In>
  static constexpr rate_bounds bounds = [] {
    if constexpr (outputs<In>::have_one_rate) {
      return joined(outputs<In>::bounds);
    } else {
      rate_bounds all = outputs<In>::bounds[outputs<In>::fastest];
      all.at_end = all.at_end + rational(most_left<In>());
      return all;
    }
  }();
  /// At the end and at different rates: as many as the fastest gives and others may have left, or fewer.
  template <class In>
  static constexpr std::int64_t given(std::int64_t n, bool ended) {
    using rings = graph_rings<graph<In>>;
    std::int64_t met = rings::given_by_output(outputs<In>::fastest, n, ended);
    if constexpr (outputs<In>::have_one_rate)
      for (std::size_t o = 0; o < wiring::outputs; ++o) met = std::min(met, rings::given_by_output(o, n, ended));
    else if (ended)
      met += most_left<In>();
    return met;
  }
};

/// In the `I`-th piece.
template <class Graph, fixed_string Group, std::size_t I>
consteval auto group_in_piece() {
  if constexpr (Graph::wiring::members[I].kind == graph_member::node)
    return type_tag<group_in_branch<graph_node<Graph, I>, Group>>{};
  else
    return type_tag<void>{};
}
template <class Graph, fixed_string Group, std::size_t... I>
first_found<typename decltype(group_in_piece<Graph, Group, I>())::type...> group_in_graph(std::index_sequence<I...>);
template <class Device, class... Parts, class In, fixed_string Group>
struct group_in_rate<graph_rate<Device, Parts...>, In, Group>
    : type_tag<typename decltype(group_in_graph<given_graph<Device, In, Parts...>, Group>(
          std::index_sequence_for<Parts...>()))::type> {};

template <class Device, fixed_string Name, class T>
flat_marks<Device, input_part<T>> flat_ends(type_list<port_part<Name, T>>);
template <class Device, fixed_string... Name, class... T>
  requires(sizeof...(T) > 1)
flat_marks<Device, ports_part<named_item<Name, T>...>> flat_ends(type_list<port_part<Name, T>...>);

template <class... Parts, class Device>
  requires some_node_changes_rate<Parts...>
struct flatten<graph_part<Parts...>, Device>
    : type_tag<concatenated<decltype(flat_ends<Device>(concatenated<typename graph_boundary<Parts>::ports...>{})),
                            type_list<flat_part<rate_part<graph_rate<Device, Parts...>>, void>>>> {};

template <class... Parts, class Visit>
  requires some_node_changes_rate<Parts...>
[[gnu::always_inline]] constexpr void for_each_stage(graph_part<Parts...>& graph, Visit& visit) {
  visit(graph);
}

}  // namespace levada::detail
