// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/kernel_candidates.hpp: asks the backends which runs of ops of a pipeline they take as one.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include <levada/core/detail/bounded.hpp>
#include <levada/graph/detail/describe.hpp>
#include <levada/plan/detail/given.hpp>
#include <levada/plan/detail/plan.hpp>
#include <levada/run/detail/deploy/deploy_options.hpp>
#include <levada/run/detail/program/flat_region.hpp>
#include <levada/run/detail/program/on_backend.hpp>

namespace levada::detail {

template <class Flat, std::size_t First, class Indices>
struct run_of_ops;
template <class Flat, std::size_t First, std::size_t... I>
struct run_of_ops<Flat, First, std::index_sequence<I...>> {
  using in = op_input_t<typename Flat::template node_place<First>::in>;
  template <class Backend>
  static consteval bool ask() {
    if constexpr (is_chain(graph_of<Flat>, First, sizeof...(I)))
      return has_kernel_for<Backend, in, typename Flat::template node_place<First + I>::part::op_type...>;
    else if constexpr (takes_regions<Backend>)
      return takes_region<Flat, Backend>(First, sizeof...(I));
    else
      return false;
  }
  template <class Backend>
  static constexpr bool taken_by = ask<Backend>();
  template <class Backend>
  using kernel = typename flat_run<Flat, First, I...>::template on<Backend>::kernel;
};

/// All runs of ops that some backend takes as one.
template <class Flat, class Backends>
struct enumerated {
  using values = backend_values<Backends>;
  static constexpr const auto& graph = graph_of<Flat>;
  static constexpr std::size_t nodes = Flat::nodes;
  static constexpr auto feeds = feeds_only_the_next(graph);

  template <std::size_t Backend>
  using backend_at = type_at<typename values::list, Backend>;

  // Regions that are no chains: asked of values, before there is a type of any.
  struct region_run {
    std::size_t first, count;
  };
  template <std::size_t Backend>
  static consteval std::size_t count_regions() {
    std::size_t count = 0;
    if constexpr (takes_regions<backend_at<Backend>>)
      for_each_region<Flat, backend_at<Backend>>([&](std::size_t, std::size_t) { ++count; });
    return count;
  }
  template <std::size_t Backend>
  static constexpr std::size_t region_count = count_regions<Backend>();
  template <std::size_t Backend>
  static consteval auto list_regions() {
    std::array<region_run, region_count<Backend>> list{};
    std::size_t next = 0;
    for_each_region<Flat, backend_at<Backend>>([&](std::size_t first, std::size_t count) {
      list[next++] = {first, count};
    });
    return list;
  }
  template <std::size_t Backend>
  static constexpr auto region_list = list_regions<Backend>();

  template <std::size_t... B>
  static consteval std::size_t bound(std::index_sequence<B...>) {
    const std::size_t chains = nodes * values::longest_run() * values::count;
    return std::max<std::size_t>(1, (chains + ... + region_count<B>));
  }
  using list = bounded<candidate, bound(std::make_index_sequence<values::count>{})>;

  static consteval std::size_t ops_from(std::size_t node) {
    std::size_t n = 0;
    while (node + n < nodes && is_op(graph.nodes[node + n]) && (n == 0 || feeds[node + n - 1])) ++n;
    return n;
  }

  template <std::size_t Node, std::size_t Length>
  using run = run_of_ops<Flat, Node, std::make_index_sequence<Length>>;

  template <std::size_t Node, std::size_t Backend, std::size_t Length>
  static constexpr void add(list& found) {
    using kernel = typename run<Node, Length>::template kernel<backend_at<Backend>>;
    if constexpr (std::derived_from<kernel, device_kernel>)
      if (!graph.nodes[Node].more.empty() && !kernel::takes_several) return;
    found.push_back({Node, Length, Backend, kernel::scratch_bytes, weight_bytes_of<kernel>});
  }
  template <std::size_t Node, std::size_t Backend, std::size_t Length>
  static constexpr void add_chain(list& found) {
    if constexpr (run<Node, Length>::template taken_by<backend_at<Backend>>) add<Node, Backend, Length>(found);
  }

  template <std::size_t Node, std::size_t Backend, std::size_t... L>
  static constexpr void add_lengths(list& found, std::index_sequence<L...>) {
    (add_chain<Node, Backend, L + 1>(found), ...);
  }

  template <std::size_t Node, std::size_t... B>
  static constexpr void add_backends([[maybe_unused]] list& found, std::index_sequence<B...>) {
    [[maybe_unused]] constexpr std::size_t there = ops_from(Node);
    (add_lengths<Node, B>(found, std::make_index_sequence<std::min<std::size_t>(there, backend_at<B>::longest_run)>{}),
     ...);
  }

  template <std::size_t Node, std::size_t Backend, std::size_t Length>
  static constexpr void add_region(list& found) {
    if constexpr (requires { sizeof(typename run<Node, Length>::template kernel<backend_at<Backend>>); })
      add<Node, Backend, Length>(found);
  }
  template <std::size_t Backend, std::size_t... R>
  static constexpr void add_regions([[maybe_unused]] list& found, std::index_sequence<R...>) {
    [[maybe_unused]] const int in_order[] = {
        0, (add_region<region_list<Backend>[R].first, Backend, region_list<Backend>[R].count>(found), 0)...};
  }
  template <std::size_t... B>
  static constexpr void add_all_regions([[maybe_unused]] list& found, std::index_sequence<B...>) {
    (add_regions<B>(found, std::make_index_sequence<region_count<B>>{}), ...);
  }

  /// A backend may say which runs it takes by a rule, too: `static constexpr auto rules` (plan/rules.hpp).
  template <std::size_t Backend>
  static consteval void keep_ruled([[maybe_unused]] list& found) {
    if constexpr (requires { backend_at<Backend>::rules; })
      keep_found(backend_at<Backend>::rules, graph, Backend, found);
  }

  template <std::size_t... B>
  static consteval void keep_all_ruled([[maybe_unused]] list& found, std::index_sequence<B...>) {
    (keep_ruled<B>(found), ...);
  }

  template <std::size_t... Node>
  static consteval list all(std::index_sequence<Node...>) {
    list found;
    [[maybe_unused]] const int in_order[] = {
        0, (add_backends<Node>(found, std::make_index_sequence<values::count>{}), 0)...};
    add_all_regions(found, std::make_index_sequence<values::count>{});
    keep_all_ruled(found, std::make_index_sequence<values::count>{});
    if constexpr (Flat::gives_regions) keep_given(graph, values::values, found);
    return found;
  }

  static constexpr list candidates = all(std::make_index_sequence<nodes>{});
};

}  // namespace levada::detail
