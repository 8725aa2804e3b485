// SPDX-License-Identifier: Apache-2.0
// ops/conditional.cpp: If of a condition that depends on the item. One of a constant was resolved before.

#include "../output/header.hpp"
#include "../output/lowering.hpp"
#include "op_definition.hpp"

namespace levada::onnx {
namespace {

std::vector<tensor_type> no_branch_types(const op_call& call) { call.fail("its branches were not looked at"); }

/// A route by its first input. Both branches take all inputs; what they give is one tensor, or a tuple.
void lower_if(lowering& to, const op_call& call) {
  const std::string name = to.fresh_name();
  std::string route = "lv::route<\"" + name + "\">(\n          lv::first_is_true{}";
  for (const bool taken : {true, false}) {
    const network& inside = *call.called().branches.at(taken ? 0 : 1);
    const std::string function = name + (taken ? "_then" : "_else");
    lowering branch(inside, function + "_");
    branch.run();
    to.add_branch(branch, write_branch(branch, inside, function));
    route += ", " + function + "(w)";
  }
  std::vector<int> from;
  for (std::size_t i = 0; i < call.inputs(); ++i) from.push_back(to.in(call, i));
  const int chosen = to.add(name, route + ")", from, call.out().type, stored_dims(call.out().dims));
  const std::size_t count = call.called().branches[0]->outputs.size();
  if (count == 1) return to.give(call, 0, chosen);
  for (std::size_t i = 0; i < count; ++i)
    to.give(call, i,
            to.add("nn::part<" + std::to_string(i) + ">", {chosen}, call.out(i).type, stored_dims(call.out(i).dims)));
}

constexpr op_definition conditional_definitions[] = {{"If", no_branch_types, nullptr, lower_if}};

}  // namespace

std::span<const op_definition> conditional_ops() { return conditional_definitions; }

}  // namespace levada::onnx
