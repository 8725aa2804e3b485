// SPDX-License-Identifier: Apache-2.0
// ops/table_of_ops.cpp: docs/onnx_ops.md.

#include "../network/foreign.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

struct op_version {
  std::string_view op;
  int version;
};
/// Ops that ONNX got after opset 7.
constexpr op_version first_versions[] = {
    {"Acosh", 9},
    {"Asinh", 9},
    {"Atanh", 9},
    {"Attention", 23},
    {"BitShift", 11},
    {"BitwiseAnd", 18},
    {"BitwiseNot", 18},
    {"BitwiseOr", 18},
    {"BitwiseXor", 18},
    {"BlackmanWindow", 17},
    {"CastLike", 15},
    {"Celu", 12},
    {"ConstantOfShape", 9},
    {"ConvInteger", 10},
    {"Cosh", 9},
    {"CumSum", 11},
    {"DequantizeLinear", 10},
    {"Einsum", 12},
    {"DynamicQuantizeLinear", 11},
    {"Erf", 9},
    {"Expand", 8},
    {"EyeLike", 9},
    {"GatherElements", 11},
    {"GatherND", 11},
    {"Gelu", 20},
    {"GreaterOrEqual", 12},
    {"GridSample", 16},
    {"HammingWindow", 17},
    {"GroupNormalization", 18},
    {"HannWindow", 17},
    {"HardSwish", 14},
    {"IsInf", 10},
    {"IsNaN", 9},
    {"LessOrEqual", 12},
    {"LayerNormalization", 17},
    {"MatMulInteger", 10},
    {"MeanVarianceNormalization", 9},
    {"Mish", 18},
    {"Mod", 10},
    {"NonZero", 9},
    {"NegativeLogLikelihoodLoss", 12},
    {"OneHot", 9},
    {"QLinearConv", 10},
    {"QLinearMatMul", 10},
    {"QuantizeLinear", 10},
    {"Range", 11},
    {"Resize", 10},
    {"ReverseSequence", 10},
    {"Round", 11},
    {"Scatter", 9},
    {"ScatterElements", 11},
    {"ScatterND", 11},
    {"Shrink", 9},
    {"Sinh", 9},
    {"SoftmaxCrossEntropyLoss", 12},
    {"Trilu", 14},
    {"Where", 9},
};
/// Ops that ONNX has no more.
constexpr op_version last_versions[] = {{"Scatter", 10}, {"Upsample", 9}};

std::string opsets_of(const op_definition& op) {
  if (!op.domain.empty()) return "1";
  int first = 7, last = 24;
  for (const auto& [name, version] : first_versions)
    if (name == op.name) first = version;
  for (const auto& [name, version] : last_versions)
    if (name == op.name) last = version;
  return std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

std::string table_of_ops() {
  std::string text =
      "# The ops of ONNX that onnx_to_levada takes\n\n`onnx_to_levada --list-ops` wrote this. An op is folded where "
      "its inputs are constants, computed where they depend\non the item, or written as nodes of other ops. "
      "`Identity`, "
      "`Dropout` that drops nothing, `If` of a constant and\nfunctions of the model are resolved by the tool itself."
      "\n\nAn op that is not here ends in an error, as does a form of an op that levada lacks. The error names all of "
      "them with\ntheir numbers.\n\n| op | opsets | folded | computed |\n|---|---|---|---|\n";
  for (const op_definition* op : all_ops()) {
    // No ops of ONNX: what patterns become, and what is left to ONNX Runtime.
    if (op->name == "Silu" || op->name == "DotProductAttention" || op->domain == foreign_domain) continue;
    const bool expanded = op->expand != nullptr;
    text += "| " + (op->domain.empty() ? "" : std::string(op->domain) + ".") + std::string(op->name) + " | " +
            opsets_of(*op) + " | " + (op->evaluate != nullptr ? "yes" : "") + " | " +
            (expanded               ? "by others"
             : op->lower != nullptr ? "yes"
                                    : "") +
            " |\n";
  }
  return text;
}

}  // namespace levada::onnx
