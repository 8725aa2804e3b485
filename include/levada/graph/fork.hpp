// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/fork.hpp: branches. The item before a fork goes to each branch, and what the branches give is joined:
//
//   a | fork(b | c, identity) | join<"mix">(f)     f(const C&, const A&); or an op of several inputs: ... | nn::add
//   a | tee(b | sink<"log">(g)) | c                a branch that gives nothing back
//
// Branches nest. What lies between a fork and its join is a tuple of which each part stays where it was made.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <levada/core/fixed_string.hpp>
#include <levada/core/type_list.hpp>
#include <levada/graph/graph_info.hpp>
#include <levada/graph/mistake.hpp>
#include <levada/graph/pipeline.hpp>
#include <levada/graph/stage.hpp>

namespace levada {

/// A branch without stages: the item as it is.
struct identity_part {};
inline constexpr identity_part identity{};

/// Branches of one item.
template <class... Branches>
struct fork_part;
template <class First>
struct fork_part<First> {
  First first;
};
template <class First, class... Rest>
struct fork_part<First, Rest...> {
  First first;
  fork_part<Rest...> rest;
};

/// A branch beside the line.
template <class Branch>
struct tee_part {
  Branch branch;
};

namespace detail {

template <>
inline constexpr bool is_part<identity_part> = true;
template <class... B>
inline constexpr bool is_part<fork_part<B...>> = true;
template <class B>
inline constexpr bool is_part<tee_part<B>> = true;

template <class Branch>
[[gnu::always_inline]] constexpr auto make_fork(Branch&& branch) {
  return fork_part<Branch>{std::move(branch)};
}
template <class First, class Second, class... Rest>
[[gnu::always_inline]] constexpr auto make_fork(First&& first, Second&& second, Rest&&... rest) {
  return fork_part<First, Second, Rest...>{std::move(first), make_fork(std::move(second), std::move(rest)...)};
}

template <class... Given>
struct first_no_part;
template <class First, class... Rest>
struct first_no_part<First, Rest...> : std::conditional_t<is_part<First>, first_no_part<Rest...>, type_tag<First>> {};
template <>
struct first_no_part<> {};

}  // namespace detail

/// The item goes to each branch; a join, or an op of several inputs, follows. At most `most_inputs` branches.
template <class... Branches>
  requires(sizeof...(Branches) >= 2 && sizeof...(Branches) <= most_inputs && (pipeline_part<Branches> && ...))
[[gnu::always_inline]] constexpr auto fork(Branches... branches) {
  return detail::make_fork(std::move(branches)...);
}
template <class... Given, class Mistake = fork_takes_two_to_eight_branches<sizeof...(Given)>>
  requires(sizeof...(Given) < 2 || sizeof...(Given) > most_inputs)
auto fork(const Given&... branches);
template <class... Given, class Mistake = no_part_of_a_pipeline_write_stage_with_a_name_around_it<
                              typename detail::first_no_part<Given...>::type>>
auto fork(const Given&... branches);

/// The item goes into a branch, which ends in a sink, and on.
template <pipeline_part Branch>
[[gnu::always_inline]] constexpr auto tee(Branch branch) {
  return tee_part<Branch>{std::move(branch)};
}

namespace detail {

/// What flows behind a fork: where the parts of each item are.
template <class... T>
struct branch_items {
  using tuple = std::tuple<T...>;
  const void* at[sizeof...(T)];

  /// Calls `f` with all parts.
  template <class F>
  [[gnu::always_inline]] constexpr decltype(auto) apply(F&& f) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return f(*static_cast<const T*>(at[I])...);
    }(std::index_sequence_for<T...>{});
  }
};
template <class T>
inline constexpr bool is_branch_items = false;
template <class... T>
inline constexpr bool is_branch_items<branch_items<T...>> = true;

template <class... T>
struct op_input<branch_items<T...>> : type_tag<std::tuple<T...>> {};

/// A callable of several items as one of what flows behind a fork.
template <class F>
struct joining {
  [[no_unique_address]] F callable;

  constexpr explicit joining(F&& f) : callable(std::move(f)) {}  // clang 16 cannot generate it as an aggregate

  template <class... T>
    requires std::is_invocable_v<F&, const T&...>
  constexpr decltype(auto) operator()(const branch_items<T...>& items) {
    return items.apply([&](const T&... t) -> decltype(auto) { return callable(t...); });
  }
  template <class Out, class... T>
    requires std::is_invocable_v<F&, const T&..., Out&>
  constexpr decltype(auto) operator()(const branch_items<T...>& items, Out& out) {
    return items.apply([&](const T&... t) -> decltype(auto) { return callable(t..., out); });
  }
};
template <class Stage>
inline constexpr bool joins = false;
template <fixed_string Name, class F, concurrency C, written W, class Out>
inline constexpr bool joins<callable_stage<Name, joining<F>, C, W, Out>> = true;

template <fixed_string Name, class Out, class F, concurrency Stated>
[[gnu::always_inline]] constexpr auto make_join(with_concurrency<F, Stated>&& f) {
  constexpr written how = std::is_void_v<Out> ? written::nothing : written::destination;
  return make_stage<Name, how, Out>(with_concurrency<joining<F>, Stated>{joining<F>(std::move(f.callable))});
}
template <fixed_string Name, class Out, class F>
[[gnu::always_inline]] constexpr auto make_join(F&& f) {
  return make_join<Name, Out>(with_concurrency<F, natural_concurrency<F>>{std::move(f)});
}

}  // namespace detail

/// `Out f(const A&, const B&, ...)` behind a fork whose branches give A, B, ...; `std::optional<Out>` filters.
template <fixed_string Name = "join", class F>
[[gnu::always_inline]] constexpr auto join(F f) {
  return detail::make_join<Name, void>(std::move(f));
}
/// `void f(const A&, const B&, ..., Out&)` writes into its destination.
template <fixed_string Name, class Out, class F>
  requires(!std::is_same_v<Out, F>)
[[gnu::always_inline]] constexpr auto join(F f) {
  return detail::make_join<Name, Out>(std::move(f));
}

namespace detail {

// ---- in the flattened pipeline ----

struct fork_mark {};
struct branch_mark {};
struct join_mark {};
struct tee_mark {};  ///< behind the branch of a tee

template <class Part>
inline constexpr bool is_branching = std::is_same_v<Part, fork_mark> || std::is_same_v<Part, branch_mark> ||
                                     std::is_same_v<Part, join_mark> || std::is_same_v<Part, tee_mark>;

template <class Device, class... Marks>
using flat_marks = type_list<flat_part<Marks, Device>...>;

template <class Fork, class Device>
struct flatten_branches;
template <class First, class Device>
struct flatten_branches<fork_part<First>, Device>
    : type_tag<concatenated<flat_marks<Device, branch_mark>, typename flatten<First, Device>::type>> {};
template <class First, class... Rest, class Device>
struct flatten_branches<fork_part<First, Rest...>, Device>
    : type_tag<concatenated<concatenated<flat_marks<Device, branch_mark>, typename flatten<First, Device>::type>,
                            typename flatten_branches<fork_part<Rest...>, Device>::type>> {};
template <class... B, class Device>
struct flatten<fork_part<B...>, Device>
    : type_tag<concatenated<
          concatenated<flat_marks<Device, fork_mark>, typename flatten_branches<fork_part<B...>, Device>::type>,
          flat_marks<Device, join_mark>>> {};
template <class B, class Device>
struct flatten<tee_part<B>, Device>
    : type_tag<concatenated<concatenated<flat_marks<Device, fork_mark, branch_mark>, typename flatten<B, Device>::type>,
                            flat_marks<Device, tee_mark>>> {};

template <class... B, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(fork_part<B...>& fork, Visit& visit) {
  for_each_stage(fork.first, visit);
  if constexpr (sizeof...(B) > 1) for_each_stage(fork.rest, visit);
}
template <class B, class Visit>
[[gnu::always_inline]] constexpr void for_each_stage(tee_part<B>& tee, Visit& visit) {
  for_each_stage(tee.branch, visit);
}

/// How the parts of a flattened pipeline are connected.
template <std::size_t N>
struct part_order {
  static constexpr std::size_t none = ~std::size_t{0};

  std::size_t before[N]{};      ///< the part whose output comes in; that of a `join_mark`: its fork
  std::size_t branch_end[N]{};  ///< of a `branch_mark`: the last part of its branch
  std::size_t next[N]{};        ///< of a fork's or branch's mark: the next branch's mark; none behind the last
  bool in_fork[N]{};            ///< inside a branch whose output is joined
};

template <class... Flat>
consteval auto order_of(type_list<Flat...>) {
  constexpr std::size_t count = sizeof...(Flat);
  using order = part_order<count>;
  constexpr bool forks[] = {std::is_same_v<typename Flat::part, fork_mark>...};
  constexpr bool branches[] = {std::is_same_v<typename Flat::part, branch_mark>...};
  constexpr bool joined[] = {std::is_same_v<typename Flat::part, join_mark>...};
  constexpr bool tees[] = {std::is_same_v<typename Flat::part, tee_mark>...};
  order o;
  std::size_t open[count + 1]{}, last_branch[count + 1]{}, depth = 0;  // the forks around a part
  for (std::size_t i = 0; i < count; ++i) {
    o.before[i] = i == 0 ? order::none : i - 1;
    o.branch_end[i] = o.next[i] = order::none;
    if (forks[i]) {
      open[depth] = last_branch[depth] = i;
      ++depth;
    } else if (branches[i] || joined[i] || tees[i]) {
      const std::size_t fork = open[depth - 1], previous = last_branch[depth - 1];
      if (previous != fork) o.branch_end[previous] = i - 1;
      o.before[i] = fork;
      if (branches[i]) {
        o.next[previous] = i;
        last_branch[depth - 1] = i;
      } else {
        if (joined[i])
          for (std::size_t j = fork + 1; j < i; ++j) o.in_fork[j] = true;
        --depth;
      }
    }
  }
  return o;
}

/// The order of a line is known without looking.
template <class Parts>
struct order_of_parts {
  static constexpr bool is_line = true;
};
template <class... Flat>
  requires(is_branching<typename Flat::part> || ...)
struct order_of_parts<type_list<Flat...>> {
  static constexpr bool is_line = false;
  static constexpr auto value = order_of(type_list<Flat...>{});

  static constexpr std::size_t branches(std::size_t join) {
    std::size_t n = 0;
    for (std::size_t at = value.next[value.before[join]]; at != value.none; at = value.next[at]) ++n;
    return n;
  }
  /// The last part of a join's `k`-th branch.
  static constexpr std::size_t end_of_branch(std::size_t join, std::size_t k) {
    std::size_t at = value.next[value.before[join]];
    while (k-- != 0) at = value.next[at];
    return value.branch_end[at];
  }
};

}  // namespace detail
}  // namespace levada
