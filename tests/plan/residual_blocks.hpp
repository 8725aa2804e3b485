// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/residual_blocks.hpp: a large graph as values: blocks of eight ops that end in a sum with what they began with.

#include <string_view>

#include <levada/graph/detail/graph_info.hpp>

namespace levada::test {

/// Of `N` ops; convolutions differ by `flops_step`.
template <std::size_t N>
constexpr graph_info<N> residual_blocks(double flops_step) {
  graph_info<N> graph;
  const value_info value{4096, 64, element::f32, shape(16, 8, 8), true};
  graph.values.push_back(value);
  for (std::size_t i = 0; i < N; ++i) {
    constexpr std::string_view kinds[] = {"conv2d", "bias", "relu", "conv2d", "bias", "relu", "add", "relu"};
    node_info node;
    node.how = form::op;
    node.kind = node.name = kinds[i % 8];
    node.flops = node.kind == "conv2d" ? 1e6 + static_cast<double>(i % 11) * flops_step : 1e3;
    node.parameter_bytes = node.kind == "conv2d" ? 9216 : 0;
    node.in = i;
    if (i % 8 == 6) node.more.push_back(static_cast<std::uint16_t>(i - 5));
    node.out = graph.result = i + 1;
    graph.nodes.push_back(node);
    graph.values.push_back(value);
    graph.values.back().producer = i;
  }
  return graph;
}

}  // namespace levada::test
