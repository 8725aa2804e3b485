// SPDX-License-Identifier: Apache-2.0
#pragma once
// output/repeats.hpp: equal blocks of a graph, one behind the other, which become one function of the header. They are
// the same ops but for the names of their parameters; each gives one value.

#include <cstddef>
#include <string>
#include <vector>

#include "lowering.hpp"

namespace levada::onnx {

struct repeated_block {
  std::string function;                 ///< its name
  std::size_t first = 0, length = 0;    ///< nodes of the first of them; the others stand behind it
  std::vector<std::string> prefixes;    ///< of each block: the names of its parameters begin so
  std::vector<std::vector<int>> taken;  ///< what each takes from outside: nodes and ports of the lowering
  std::vector<int> gives;               ///< the node of each whose value others take

  std::size_t times() const { return prefixes.size(); }
  std::size_t nodes() const { return length * times(); }
};

/// Among nodes of the lowering, which `sequence` has in their order. Each is in one block at most; blocks that would
/// save little are left as they are.
std::vector<repeated_block> find_repeats(const lowering& lowered, const std::vector<int>& sequence);

/// Replaces `"name"`, the op's own name, where it is the first argument of a template. False: it stands elsewhere.
bool replace_own_name(std::string& op, const std::string& name, const std::string& by);

}  // namespace levada::onnx
