// SPDX-License-Identifier: Apache-2.0
#include "op_definition.hpp"

#include <map>

namespace levada::onnx {
namespace {

using table = std::map<std::pair<std::string_view, std::string_view>, const op_definition*>;

const table& definitions() {
  static const table all = [] {
    table result;
    for (const auto family :
         {element_wise_ops(), move_ops(), shape_ops(), window_ops(), product_ops(), reduction_ops(), norm_ops(),
          attention_ops(), recurrent_ops(), quantized_ops(), conditional_ops(), expanded_ops(), foreign_ops()})
      for (const op_definition& op : family) result.emplace(std::pair(op.domain, op.name), &op);
    return result;
  }();
  return all;
}

}  // namespace

const op_definition* find_op(std::string_view domain, std::string_view name) {
  const auto found = definitions().find({domain, name});
  return found == definitions().end() ? nullptr : found->second;
}

std::vector<const op_definition*> all_ops() {
  std::vector<const op_definition*> result;
  for (const auto& [key, op] : definitions()) result.push_back(op);
  return result;
}

}  // namespace levada::onnx
