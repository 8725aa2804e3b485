// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/measured_whole.hpp: a partition that a table has because it was measured as a whole. Kernels disturb each
// other, and a sum does not know that: where the table has the whole, it goes before the search.

#include <cstdint>
#include <span>

#include <levada/plan/cost_table.hpp>
#include <levada/plan/detail/saved.hpp>

namespace levada {

/// What a measured whole answers: which graph, on which devices, by which backends in which order. Names of ops are no
/// part of it.
template <std::size_t N>
constexpr std::uint64_t question_of(const graph_info<N>& graph, std::span<const device_info> devices,
                                    std::span<const backend_info> backends) {
  detail::text_hash asked;
  const auto add = [&](std::size_t number) {
    asked += ' ';
    detail::append_number(asked, number);
  };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const node_info& node = graph.nodes[n];
    append_signature(asked, graph, n);
    for_each_input(node, add);
    if (node.pin) detail::append_device(asked, node.pin);
    asked += node.split_after ? '|' : ';';
  }
  for (const device_info& d : devices) detail::append_device(asked, d.id);
  for (const backend_info& b : backends) {
    asked += ' ';
    asked += b.name;
  }
  return asked.value();
}

/// The whole of a table that answers the question, if any.
constexpr const whole_cost* find_whole(const cost_table& table, std::uint64_t question) {
  for (const whole_cost& w : table.wholes)
    if (w.question == question) return &w;
  return nullptr;
}

/// The partition that a table has as a whole; without a unit where it has none, or one that no longer fits.
template <std::size_t N>
constexpr partition<N> measured_partition(const graph_info<N>& graph, std::span<const device_info> devices,
                                          std::span<const candidate> candidates, std::span<const backend_info> backends,
                                          const cost_table& table) {
  if (table.wholes.empty()) return {};
  const whole_cost* whole = find_whole(table, question_of(graph, devices, backends));
  if (whole == nullptr) return {};
  const plan_reading<N> reading = read_plan(whole->plan, graph, devices, candidates, backends);
  return reading ? reading.parts : partition<N>{};
}

}  // namespace levada
