// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/pattern.hpp: the shape of a sub-graph, written from the node that gives its result back to what it takes:
//
//   is("relu")(is("conv2d") || is("dense"))            a relu of what a convolution or a dense layer gives
//   is("add")(is("conv2d").where(small), anything)     of two values, the second from anywhere
//
// What `anything` stands for is no part of the match.

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/graph/detail/graph_info.hpp>
#include <levada/plan/detail/node_set.hpp>

namespace levada {

namespace detail {
struct pattern_tag {};
}  // namespace detail

/// What patterns are made of.
template <class T>
concept graph_pattern = std::is_base_of_v<detail::pattern_tag, T>;

namespace detail {

/// The match of `pattern` at `value` is added to `matched`, or nothing is.
template <graph_pattern Pattern, std::size_t N>
constexpr bool match(const Pattern& pattern, const graph_info<N>& graph, std::size_t value, node_set<N>& matched) {
  node_set<N> here = matched;
  if (!pattern.match(graph, value, here)) return false;
  matched = here;
  return true;
}

}  // namespace detail

/// A value from anywhere.
struct anything_pattern : detail::pattern_tag {
  template <std::size_t N>
  constexpr bool match(const graph_info<N>&, std::size_t, node_set<N>&) const {
    return true;
  }
};
inline constexpr anything_pattern anything{};

/// One pattern or, where it does not match, another.
template <graph_pattern First, graph_pattern Second>
struct either_pattern : detail::pattern_tag {
  First first;
  Second second;

  constexpr either_pattern(First a, Second b) : first(a), second(b) {}
  template <std::size_t N>
  constexpr bool match(const graph_info<N>& graph, std::size_t value, node_set<N>& matched) const {
    return detail::match(first, graph, value, matched) || detail::match(second, graph, value, matched);
  }
};

template <graph_pattern First, graph_pattern Second>
constexpr auto operator||(First first, Second second) {
  return either_pattern<First, Second>(first, second);
}

/// A node that the predicate takes, whose values match `Taken`; any where none are named.
template <class Predicate, graph_pattern... Taken>
struct node_pattern : detail::pattern_tag {
  Predicate predicate;
  std::tuple<Taken...> taken;

  constexpr explicit node_pattern(Predicate p, Taken... of) : predicate(p), taken(of...) {}

  /// Of these values, in order.
  template <graph_pattern... Of>
    requires(sizeof...(Taken) == 0 && sizeof...(Of) <= most_inputs)
  constexpr auto operator()(Of... of) const {
    return node_pattern<Predicate, Of...>(predicate, of...);
  }
  /// That `also` takes, too: a function of a node_info.
  template <class Also>
  constexpr auto where(Also also) const {
    return std::apply(
        [&](Taken... of) {
          const auto both = [first = predicate, also](const node_info& node) { return first(node) && also(node); };
          return node_pattern<decltype(both), Taken...>(both, of...);
        },
        taken);
  }

  template <std::size_t N>
  constexpr bool match(const graph_info<N>& graph, std::size_t value, node_set<N>& matched) const {
    const std::size_t n = graph.values[value].producer;
    if (n == value_info::nobody || !predicate(graph.nodes[n])) return false;
    const node_info& node = graph.nodes[n];
    if constexpr (sizeof...(Taken) > 0) {
      if (1 + node.more.size() != sizeof...(Taken)) return false;
      std::size_t values[sizeof...(Taken)]{}, count = 0;
      for_each_input(node, [&](std::size_t v) { values[count++] = v; });
      if (![&]<std::size_t... I>(std::index_sequence<I...>) {
            return (detail::match(std::get<I>(taken), graph, values[I], matched) && ...);
          }(std::make_index_sequence<sizeof...(Taken)>{}))
        return false;
    }
    matched.insert(n);
    return true;
  }
};

/// A node of which the predicate, a function of a node_info, says yes.
template <class Predicate>
constexpr auto node_where(Predicate predicate) {
  return node_pattern<Predicate>(predicate);
}

/// Whether an op is of that kind, by its own name for it: "conv2d".
struct named_kind {
  std::string_view kind;
  constexpr bool operator()(const node_info& node) const { return is_op(node) && node.kind == kind; }
};
/// An op of that kind.
constexpr auto is(std::string_view kind) { return node_pattern<named_kind>(named_kind{kind}); }

}  // namespace levada
