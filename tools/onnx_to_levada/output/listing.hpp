// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/listing.hpp: what became of each node of a model, for people and, as JSON, for programs.

#include <string>

#include "../network/elaborate.hpp"
#include "header.hpp"
#include "lowering.hpp"

namespace levada::onnx {

struct listing {
  std::string model, name;
  elaboration_counts counts;
  std::size_t before_passes = 0;  ///< nodes
};

/// Lines of the graph with the nodes of ONNX in each, what they give and how much they compute; inputs, outputs, bytes.
std::string listing_text(const listing& head, const lowering& lowered, const fused_graph& graph, const network& net);
std::string listing_json(const listing& head, const lowering& lowered, const fused_graph& graph, const network& net);

}  // namespace levada::onnx
