// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/kernel_candidates.hpp: asks the backends which runs of ops of a pipeline they take as one.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
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
};

/// A kernel as a plan knows it.
struct kernel_facts {
  std::size_t backend = 0, count = 0;
  std::size_t scratch_bytes = 0, weight_bytes = 0;
  bool takes_one_value = false;  ///< of one value alone, however many its first op takes
  bool exists = true;
  std::string_view method{};
  std::size_t tiles = 1;
};
template <class Kernel>
constexpr kernel_facts facts_of(std::size_t backend, std::size_t count) {
  kernel_facts facts{backend, count, Kernel::scratch_bytes, weight_bytes_of<Kernel>};
  facts.method = method_of<Kernel>;
  facts.tiles = tiles_of<Kernel>;
  if constexpr (std::derived_from<Kernel, device_kernel>) facts.takes_one_value = !Kernel::takes_several;
  return facts;
}

/// The kernels of a backend for so many of the first of these ops.
template <class Backend, class In, class Ops, std::size_t... I>
constexpr void add_chain(auto& found, std::size_t backend, std::index_sequence<I...>) {
  if constexpr (has_kernel_for<Backend, In, type_at<Ops, I>...>)
    found.push_back(facts_of<kernel_for_t<Backend, In, type_at<Ops, I>...>>(backend, sizeof...(I)));
}
template <class Backend, class In, class Ops, std::size_t... L>
constexpr void add_lengths([[maybe_unused]] auto& found, [[maybe_unused]] std::size_t backend,
                           std::index_sequence<L...>) {
  (add_chain<Backend, In, Ops>(found, backend, std::make_index_sequence<L + 1>()), ...);
}
/// Those of each backend that begin with the first of these ops. They depend on the ops and what comes to them, and
/// are found once however often these stand in a pipeline.
template <class Backends, class In, class Ops>
inline constexpr auto chains_from = 0;
template <class... Backend, class In, class... Ops>
inline constexpr auto chains_from<type_list<Backend...>, In, type_list<Ops...>> = [] {
  bounded<kernel_facts, std::max<std::size_t>(1, sizeof...(Ops) * sizeof...(Backend))> found;
  [[maybe_unused]] std::size_t backend = 0;
  (add_lengths<Backend, In, type_list<Ops...>>(
       found, backend++, std::make_index_sequence<std::min<std::size_t>(sizeof...(Ops), Backend::longest_run)>()),
   ...);
  return found;
}();

template <class Flat, std::size_t First, class Indices>
struct ops_in_a_row;
template <class Flat, std::size_t First, std::size_t... I>
struct ops_in_a_row<Flat, First, std::index_sequence<I...>>
    : type_tag<type_list<typename Flat::template node_place<First + I>::part::op_type...>> {};

template <class Backend, class Region>
inline constexpr kernel_facts region_facts{.exists = false};
template <class Backend, class Region>
  requires requires { sizeof(typename Backend::template region_kernel<Region>); }
inline constexpr kernel_facts region_facts<Backend, Region> =
    facts_of<typename Backend::template region_kernel<Region>>(0, Region::ops);

/// How many regions of several outputs it has (run/detail/deploy/ordered.hpp).
template <class Flat>
inline constexpr std::size_t joined_outputs = 0;
template <class Flat>
  requires requires { Flat::order.joined; }
inline constexpr std::size_t joined_outputs<Flat> = Flat::order.joined.size();

/// All runs of ops that some backend takes as one.
template <class Flat, class Backends>
struct enumerated {
  using values = backend_values<Backends>;
  static constexpr const auto& graph = graph_of<Flat>;
  static constexpr std::size_t nodes = Flat::nodes;

  template <std::size_t Backend>
  using backend_at = type_at<typename values::list, Backend>;

  // Regions that are no chains: asked of values, before there is a type of any.
  struct region_run {
    std::size_t first, count;
  };
  template <std::size_t Backend, std::size_t Part>
  static consteval auto regions_in_part() {
    bounded<region_run, nodes_of_part * longest_region> found;
    for_each_region<Flat, backend_at<Backend>>(Part, [&](std::size_t first, std::size_t count) {
      found.push_back({first, count});
    });
    return found;
  }
  template <std::size_t Backend, std::size_t Part>
  static constexpr auto regions_from = regions_in_part<Backend, Part>();
  template <std::size_t Backend, std::size_t... Part>
  static consteval std::size_t count_regions(std::index_sequence<Part...>) {
    std::size_t count = 0;
    if constexpr (takes_regions<backend_at<Backend>>)
      for (const std::size_t found : {std::size_t{0}, regions_from<Backend, Part>.size()...}) count += found;
    return count;
  }
  using all_parts = std::make_index_sequence<parts_of_nodes<Flat>>;
  template <std::size_t Backend>
  static constexpr std::size_t region_count = count_regions<Backend>(all_parts{});
  template <std::size_t Backend, std::size_t... Part>
  static consteval auto list_regions(std::index_sequence<Part...>) {
    std::array<region_run, region_count<Backend>> list{};
    std::size_t next = 0;
    for (const auto* part : {&regions_from<Backend, Part>...})
      for (const region_run& run : *part) list[next++] = run;
    return list;
  }
  template <std::size_t Backend>
  static constexpr auto region_list = list_regions<Backend>(all_parts{});

  template <std::size_t... B>
  static consteval std::size_t bound(std::index_sequence<B...>) {
    const std::size_t others = nodes * values::longest_run() * values::count + joined_outputs<Flat>;
    return std::max<std::size_t>(1, (others + ... + region_count<B>));
  }
  using list = bounded<candidate, bound(std::make_index_sequence<values::count>{})>;

  /// How many ops make a chain from each node on, as far as some backend takes one.
  static constexpr std::array<std::size_t, nodes> chain_lengths = [] {
    const auto feeds = feeds_only_the_next(graph);
    std::array<std::size_t, nodes> lengths{};
    for (std::size_t node = nodes; node-- > 0;) {
      if (!is_op(graph.nodes[node])) continue;
      const std::size_t behind = node + 1 < nodes && feeds[node] ? lengths[node + 1] : 0;
      lengths[node] = std::min(behind + 1, values::longest_run());
    }
    return lengths;
  }();

  template <std::size_t Node, std::size_t Length>
  using run = run_of_ops<Flat, Node, std::make_index_sequence<Length>>;
  template <std::size_t Node>
  using ops_from = typename ops_in_a_row<Flat, Node, std::make_index_sequence<chain_lengths[Node]>>::type;
  template <std::size_t Node>
  using in_of = op_input_t<typename Flat::template node_place<Node>::in>;

  static constexpr void add(list& found, std::size_t node, const kernel_facts& kernel) {
    if (kernel.takes_one_value && !graph.nodes[node].more.empty()) return;
    found.push_back(
        {node, kernel.count, kernel.backend, kernel.scratch_bytes, kernel.weight_bytes, kernel.method, kernel.tiles});
  }
  template <std::size_t Backend, std::size_t... R>
  static constexpr void add_regions([[maybe_unused]] list& found, std::index_sequence<R...>) {
    if constexpr (sizeof...(R) != 0) {
      constexpr const auto& runs = region_list<Backend>;
      const kernel_facts kernels[] = {
          region_facts<backend_at<Backend>, flat_region<Flat, runs[R].first, runs[R].count>>...};
      for (std::size_t r = 0; r < sizeof...(R); ++r) {
        kernel_facts kernel = kernels[r];
        kernel.backend = Backend;
        if (kernel.exists) add(found, runs[r].first, kernel);
      }
    }
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

  /// Regions of several outputs are part of the graph: there is no other candidate for their nodes.
  template <std::size_t... R>
  static consteval void keep_joined(list& found, std::index_sequence<R...>) {
    constexpr const auto& joined = Flat::order.joined;
    constexpr std::array<std::size_t, sizeof...(R)> firsts{Flat::order.place_of(joined[R].nodes.first())...};
    const kernel_facts kernels[] = {
        region_facts<backend_at<joined[R].backend>, flat_region<Flat, firsts[R], joined[R].nodes.size()>>...};
    list kept;
    for (const candidate& c : found) {
      bool is_elsewhere = true;
      for (std::size_t r = 0; r < sizeof...(R); ++r)
        is_elsewhere = is_elsewhere && (c.first + c.count <= firsts[r] || c.first >= firsts[r] + kernels[r].count);
      if (is_elsewhere) kept.push_back(c);
    }
    for (std::size_t r = 0; r < sizeof...(R); ++r) {
      kernel_facts kernel = kernels[r];
      kernel.backend = joined[r].backend;
      if (kernel.exists) add(kept, firsts[r], kernel);
    }
    found = kept;
  }

  template <std::size_t... Node>
  static consteval list all(std::index_sequence<Node...>) {
    list found;
    const std::array<std::span<const kernel_facts>, nodes> chains{
        as_span(chains_from<typename values::list, in_of<Node>, ops_from<Node>>)...};
    for (std::size_t node = 0; node < nodes; ++node)
      for (const kernel_facts& kernel : chains[node]) add(found, node, kernel);
    add_all_regions(found, std::make_index_sequence<values::count>{});
    keep_all_ruled(found, std::make_index_sequence<values::count>{});
    if constexpr (joined_outputs<Flat> != 0) keep_joined(found, std::make_index_sequence<joined_outputs<Flat>>{});
    if constexpr (Flat::gives_regions) keep_given(graph, values::values, found);
    return found;
  }
  template <std::size_t N>
  static constexpr std::span<const kernel_facts> as_span(const bounded<kernel_facts, N>& kernels) {
    return {kernels.data(), kernels.size()};
  }

  static constexpr list candidates = all(std::make_index_sequence<nodes>{});
};

}  // namespace levada::detail
