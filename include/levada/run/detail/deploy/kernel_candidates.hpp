// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/kernel_candidates.hpp: asks the backends which runs of ops of a pipeline they take as one.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <levada/graph/detail/describe.hpp>
#include <levada/plan/detail/given.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/program/on_backend.hpp>

namespace levada::detail {

template <class Flat, std::size_t First, class Indices>
struct run_of_ops;
template <class Flat, std::size_t First, std::size_t... I>
struct run_of_ops<Flat, First, std::index_sequence<I...>> {
  using in = op_input_t<typename Flat::template node_place<First>::in>;
  template <class Backend>
  static constexpr bool taken_by =
      has_kernel_for<Backend, in, typename Flat::template node_place<First + I>::part::op_type...>;
  template <class Backend>
  using kernel = kernel_for_t<Backend, in, typename Flat::template node_place<First + I>::part::op_type...>;
};

/// All runs of ops that some backend takes as one.
template <class Flat, class Backends>
struct enumerated {
  using values = backend_values<Backends>;
  static constexpr auto graph = Flat::describe();
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr std::size_t most = nodes * values::longest_run() * values::count;
  using list = bounded<candidate, (most > 0 ? most : 1)>;

  static constexpr auto feeds = feeds_only_the_next(graph);

  static consteval std::size_t ops_from(std::size_t node) {
    std::size_t n = 0;
    while (node + n < nodes && is_op(graph.nodes[node + n]) && (n == 0 || feeds[node + n - 1])) ++n;
    return n;
  }

  template <std::size_t Node, std::size_t Length>
  using run = run_of_ops<Flat, Node, std::make_index_sequence<Length>>;

  template <std::size_t Node, std::size_t Backend, std::size_t Length>
  static consteval void add(list& found) {
    using backend = type_at<typename values::list, Backend>;
    if constexpr (run<Node, Length>::template taken_by<backend>) {
      using kernel = typename run<Node, Length>::template kernel<backend>;
      found.push_back({Node, Length, Backend, kernel::scratch_bytes, weight_bytes_of<kernel>});
    }
  }

  template <std::size_t Node, std::size_t Backend, std::size_t... L>
  static consteval void add_lengths(list& found, std::index_sequence<L...>) {
    (add<Node, Backend, L + 1>(found), ...);
  }

  template <std::size_t Node, std::size_t... B>
  static consteval void add_backends([[maybe_unused]] list& found, std::index_sequence<B...>) {
    [[maybe_unused]] constexpr std::size_t there = ops_from(Node);
    (add_lengths<Node, B>(
         found,
         std::make_index_sequence<std::min<std::size_t>(there, type_at<typename values::list, B>::longest_run)>{}),
     ...);
  }

  /// A backend may say which runs it takes by a rule, too: `static constexpr auto rules` (plan/rules.hpp).
  template <std::size_t Backend>
  static consteval void keep_ruled([[maybe_unused]] list& found) {
    using backend = type_at<typename values::list, Backend>;
    if constexpr (requires { backend::rules; }) keep_found(backend::rules, graph, Backend, found);
  }

  template <std::size_t... B>
  static consteval void keep_all_ruled([[maybe_unused]] list& found, std::index_sequence<B...>) {
    (keep_ruled<B>(found), ...);
  }

  template <std::size_t... Node>
  static consteval list all(std::index_sequence<Node...>) {
    list found;
    (add_backends<Node>(found, std::make_index_sequence<values::count>{}), ...);
    keep_all_ruled(found, std::make_index_sequence<values::count>{});
    if constexpr (Flat::gives_regions) keep_given(graph, values::values, found);
    return found;
  }

  static constexpr list candidates = all(std::make_index_sequence<nodes>{});
};

}  // namespace levada::detail
