// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops/op_definition.hpp: all that the tool knows of an op of ONNX. One file of ops/ defines a family of them.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op_call.hpp"

namespace levada::onnx {

class lowering;

struct op_definition {
  std::string_view name;
  /// The types of the outputs.
  std::vector<tensor_type> (*infer)(const op_call&);
  /// The outputs, where all inputs are known; null where nothing is folded.
  std::vector<constant> (*evaluate)(const op_call&) = nullptr;
  /// Writes it as ops of levada; null of an op that exists only where it is folded.
  void (*lower)(lowering&, const op_call&) = nullptr;
  std::string_view domain = "";
  /// The outputs follow from the types of the inputs alone (Shape, Size).
  bool needs_types_only = false;
  /// Nodes of other ops that it stands for, with inputs called "in0" and so on.
  std::optional<function_def> (*expand)(const op_call&) = nullptr;
};

/// The ops of each family.
std::span<const op_definition> element_wise_ops();
std::span<const op_definition> move_ops();
std::span<const op_definition> shape_ops();
std::span<const op_definition> window_ops();
std::span<const op_definition> product_ops();
std::span<const op_definition> reduction_ops();
std::span<const op_definition> norm_ops();
std::span<const op_definition> attention_ops();
std::span<const op_definition> recurrent_ops();
std::span<const op_definition> quantized_ops();
std::span<const op_definition> conditional_ops();
std::span<const op_definition> expanded_ops();
std::span<const op_definition> foreign_ops();

/// The definition of an op; null of one that is not supported.
const op_definition* find_op(std::string_view domain, std::string_view name);

/// The nodes that a call stands for; null where it is an op by itself.
std::optional<function_def> expansion_of(const op_definition& op, const op_call& call);

/// All of them as a table, with the versions that ONNX gave them (docs/onnx_ops.md).
std::string table_of_ops();

/// All of them, by domain and name.
std::vector<const op_definition*> all_ops();

}  // namespace levada::onnx
