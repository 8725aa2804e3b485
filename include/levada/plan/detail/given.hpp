// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/given.hpp: regions that are given to a backend by hand (graph/detail/on_backend.hpp): the candidates that
// are left, and what is wrong with a region that has none.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <levada/plan/detail/partition.hpp>

namespace levada {

/// The nodes of a region, from the first to the one behind the last.
struct given_region {
  std::size_t first = 0, behind = 0, count = 0;
};

template <std::size_t N>
constexpr given_region find_given(const graph_info<N>& graph, std::size_t region) {
  given_region found;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].region != region) continue;
    if (found.count++ == 0) found.first = n;
    found.behind = n + 1;
  }
  return found;
}

/// Takes those candidates away that are of another backend than that of a region they touch, or not all of it.
template <std::size_t N, class Candidates>
constexpr void keep_given(const graph_info<N>& graph, std::span<const backend_info> backends, Candidates& candidates) {
  std::array<std::size_t, N> size{};  // of the region of each node
  for (const node_info& node : graph.nodes)
    for (std::size_t n = 0; node.region != 0 && n < graph.nodes.size(); ++n)
      size[n] += graph.nodes[n].region == node.region;
  Candidates kept;
  for (const candidate& c : candidates) {
    bool stays = true;
    for (std::size_t n = c.first; n < c.first + c.count; ++n) {
      const node_info& node = graph.nodes[n];
      stays = stays && node.region == graph.nodes[c.first].region &&
              (node.region == 0 || (c.count == size[n] && node.backend == backends[c.backend].name));
    }
    if (stays) kept.push_back(c);
  }
  candidates = kept;
}

/// Why a backend does not take a region as one.
enum class given_fault : std::uint8_t {
  none,
  callable,
  line,
  border,
  backend,
  device,
  length,
  kernel,
  rules,
  depth,
  exits,
  tap
};

/// Why no backend could, whichever it is.
template <std::size_t N>
constexpr given_fault fault_of_given(const graph_info<N>& graph, const given_region& region) {
  const std::array<bool, N> feeds = feeds_only_the_next(graph);
  for (std::size_t n = region.first; n < region.behind; ++n)
    if (!is_op(graph.nodes[n])) return given_fault::callable;
  for (std::size_t n = region.first; n + 1 < region.behind; ++n) {
    if (!feeds[n]) return given_fault::line;
    if (graph.nodes[n].split_after) return given_fault::border;
  }
  return given_fault::none;
}

/// Whether a device of the target computes for the backend and may have all nodes of a region.
template <std::size_t N>
constexpr bool has_device_for(const graph_info<N>& graph, const given_region& region, const backend_info& backend,
                              std::span<const device_info> devices) {
  for (const device_info& d : devices) {
    bool may = detail::computes_on(backend, d.id);
    for (std::size_t n = region.first; n < region.behind; ++n) may = may && detail::may_run_on(graph.nodes[n], d.id);
    if (may) return true;
  }
  return false;
}

}  // namespace levada
