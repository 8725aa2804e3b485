// SPDX-License-Identifier: Apache-2.0
#include "shared_weights.hpp"

#include <algorithm>
#include <set>

namespace levada::onnx {
namespace {

bool is_same(const constant& a, const constant& b) {
  return a.type() == b.type() && a.dims() == b.dims() &&
         (a.bytes().data() == b.bytes().data() || std::ranges::equal(a.bytes(), b.bytes()));
}

}  // namespace

std::map<std::string, constant> share_weights(const std::vector<std::pair<std::string, lowering*>>& graphs) {
  std::map<std::string, const constant*> seen;
  std::set<std::string> differ;  // nodes
  for (const auto& [name, graph] : graphs)
    for (const auto& [weight, known] : graph->weights())
      if (const auto [first, is_new] = seen.emplace(weight, &known); !is_new && !is_same(*first->second, known))
        differ.insert(weight.substr(0, weight.rfind('.')));
  std::map<std::string, constant> all;
  for (const auto& [name, graph] : graphs) {
    for (const std::string& node : differ) graph->rename(node, node + "_" + name);
    all.insert(graph->weights().begin(), graph->weights().end());
  }
  return all;
}

}  // namespace levada::onnx
