// SPDX-License-Identifier: Apache-2.0
#pragma once
// network/foreign.hpp: nodes of the file that ONNX Runtime computes.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "network.hpp"

namespace levada::onnx {

/// The op and the domain of such a node, in a network.
inline constexpr std::string_view foreign_op = "OnnxRuntime", foreign_domain = "levada";

/// What the sub-graphs of a node take from around it, by name.
std::set<std::string> captured_names(const node_def& def);

/// A foreign node of one node of the file: with these inputs, in its order (`no_value`: absent), these that its
/// sub-graphs take, and these outputs.
node foreign_of(std::string name, std::string_view message, const std::vector<value_id>& inputs,
                const std::map<std::string, value_id>& captured, const std::vector<value_id>& outputs);

/// Foreign nodes that take from each other become one, unless a way between them leads through others.
void join_foreign(network& net);

/// The model of a foreign node, as the bytes of a file. Inputs that are known are its initializers.
std::string foreign_model(const network& net, const node& n);

}  // namespace levada::onnx
