// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/header.hpp: the header that a model becomes: ports, one line a fused node, outputs.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lowering.hpp"
#include "repeats.hpp"

namespace levada::onnx {

/// Stands in the first line of every header: what another version made may differ.
inline constexpr std::string_view tool_version = "0.1.0";

/// A line of the graph: ops in a row, each of whose values only the next one takes, and none of which leaves its block.
struct fused_line {
  std::string name;       ///< of its last node
  std::size_t first = 0;  ///< its first node's place among those that are needed
  std::vector<std::string> from;
  std::vector<std::string> ops;
  std::vector<std::string> names;  ///< of the ops
  std::vector<int> sources;        ///< nodes of the network, each once

  /// Goes on with that node.
  void add(const levada_node& n) {
    name = n.name;
    ops.push_back(n.op);
    names.push_back(n.name);
    if (n.source >= 0 && (sources.empty() || sources.back() != n.source)) sources.push_back(n.source);
  }
};

/// Ports and outputs keep their order.
struct fused_graph {
  std::vector<int> ports;  ///< nodes of the lowering
  std::vector<fused_line> lines;
  std::vector<std::pair<std::string, std::string>> outputs;  ///< name, node
  std::vector<repeated_block> blocks;
};
/// `blocks`: equal ones are looked for.
fused_graph fuse(const lowering& lowered, bool blocks = true);

struct header_text {
  std::string name;                                         ///< the namespace
  std::string model;                                        ///< the file's name
  std::string model_hash;                                   ///< of the model's bytes
  std::string options;                                      ///< as they were given
  std::string weights_file;                                 ///< its name
  std::vector<std::pair<std::string, std::string>> states;  ///< ONNX's output and input that are one state
  bool embed = false;                                       ///< the weights are linked into the program
};

using weight_map = std::map<std::string, constant>;

/// Names, extents and types of all parameters: what weights of the same model have in common.
std::string structure_hash(const weight_map& weights);

/// The unit that has the file of weights in it.
std::string write_embedded(const header_text& text, const std::string& weights_path);

/// The function of a branch: a graph that has all inputs of its network; several outputs are one tuple.
std::string write_branch(const lowering& lowered, const network& net, const std::string& name);

std::string write_header(const lowering& lowered, const fused_graph& graph, const network& net,
                         const header_text& text);

/// One of several graphs of a header, each in a namespace of its own.
struct header_graph {
  std::string space;
  const lowering& lowered;
  const fused_graph& graph;
  const network& net;
};
/// `weights`: those of all.
std::string write_header(const std::vector<header_graph>& graphs, const weight_map& weights, const header_text& text);

}  // namespace levada::onnx
