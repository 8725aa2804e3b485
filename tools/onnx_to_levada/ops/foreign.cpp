// SPDX-License-Identifier: Apache-2.0
// ops/foreign.cpp: nodes that ONNX Runtime computes, as one stage. Its model lies among the weights.

#include "../network/foreign.hpp"

#include "../output/lowering.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

std::vector<tensor_type> no_foreign_types(const op_call& call) { call.fail("its types are what the model says"); }

/// A tensor, or a tuple of several.
std::string types_text(const std::vector<std::string>& types) {
  if (types.size() == 1) return types[0];
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
  return "std::tuple<" + text + ">";
}

void lower_foreign(lowering& to, const op_call& call) {
  const std::string name = to.fresh_name();
  const std::string bytes = foreign_model(call.network(), call.called());
  to.foreign(name, bytes);
  std::vector<int> from;
  std::vector<std::string> taken, given;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.is_known(i)) continue;
    from.push_back(to.in(call, i));
    taken.push_back(tensor_text(call.type(i), stored_dims(call.dims(i))));
  }
  for (std::size_t i = 0; i < call.outputs(); ++i)
    given.push_back(tensor_text(call.out(i).type, stored_dims(call.out(i).dims)));
  const std::string line = "\n          ";
  const value& first = call.out();
  const int made = to.add(name,
                          "lv::onnx_runtime_stage<\"" + name + "\"," + line + types_text(taken) + "," + line +
                              types_text(given) + ">(" + line + "lv::onnx_runtime_model(w, \"" + name + ".model\"))",
                          from, first.type, stored_dims(first.dims));
  if (call.outputs() == 1) return to.give(call, 0, made);
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const value& out = call.out(i);
    to.give(call, i, to.add("nn::part<" + std::to_string(i) + ">", {made}, out.type, stored_dims(out.dims)));
  }
}

constexpr op_definition foreign_definitions[] = {
    {foreign_op, no_foreign_types, nullptr, lower_foreign, foreign_domain}};

}  // namespace

std::span<const op_definition> foreign_ops() { return foreign_definitions; }

}  // namespace levada::onnx
