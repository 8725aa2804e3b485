// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/shared_weights.hpp: the weights of several graphs of a model in one file.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lowering.hpp"

namespace levada::onnx {

/// Those that are the same in all graphs that have them are there once. Where some differ, such as tables that were
/// folded for the extents, the node of each graph has a name of its own: that with the name of the graph behind it.
std::map<std::string, constant> share_weights(const std::vector<std::pair<std::string, lowering*>>& graphs);

}  // namespace levada::onnx
