// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "passes.hpp"

namespace levada::onnx {
namespace {

node made_of(std::string op, std::string name, std::vector<value_id> inputs, std::vector<value_id> outputs) {
  node n;
  n.op = std::move(op);
  n.opset = 13;
  n.name = std::move(name);
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  return n;
}
constant list_constant(const std::vector<std::int64_t>& numbers) {
  return constant::of(element::i64, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> join_states(
    network& net, const std::vector<std::pair<std::string, std::string>>& states) {
  if (states.size() < 2) return states;
  std::vector<value_id> inputs, outputs;
  std::vector<std::int64_t> sizes;
  std::int64_t total = 0;
  for (const auto& [output, input] : states) {
    const auto from = std::ranges::find_if(net.inputs, [&](value_id id) { return net[id].name == input; });
    const auto to = std::ranges::find_if(net.outputs, [&](const auto& o) { return o.first == output; });
    if (from == net.inputs.end() || to == net.outputs.end())
      throw conversion_error("the state " + output + "=" + input + " is no output and input of the model");
    if (net[*from].type != net[to->second].type || net[*from].dims != net[to->second].dims)
      throw conversion_error("the state " + output + "=" + input + " goes in with another type than it comes out");
    if (net[*from].type != net[inputs.empty() ? *from : inputs[0]].type)
      throw conversion_error("states of several types of elements are not supported");
    inputs.push_back(*from);
    outputs.push_back(to->second);
    sizes.push_back(elements_of(net[*from].dims));
    total += sizes.back();
  }
  const std::string name = "state";
  const element type = net[inputs[0]].type;
  const value_id before = net.add({name, type, {total}, {}}), after = net.add({"next_" + name, type, {total}, {}});
  std::vector<value_id> parts, rows;
  std::vector<node> begin, end;
  for (std::size_t i = 0; i < states.size(); ++i) {
    parts.push_back(net.add({states[i].second + "_row", type, {sizes[i]}, {}}));
    rows.push_back(net.add({states[i].first + "_row", type, {sizes[i]}, {}}));
    const value_id shape = net.add(list_constant(net[inputs[i]].dims), ""),
                   row = net.add(list_constant({sizes[i]}), "");
    begin.push_back(made_of("Reshape", states[i].second, {parts[i], shape}, {inputs[i]}));
    end.push_back(made_of("Reshape", states[i].first + "_row", {outputs[i], row}, {rows[i]}));
  }
  const value_id split = net.add(list_constant(sizes), "");
  begin.insert(begin.begin(), made_of("Split", name + "_parts", {before, split}, parts));
  end.push_back(made_of("Concat", "next_" + name, rows, {after}));
  end.back().attributes["axis"].integer = 0;
  net.nodes.insert(net.nodes.begin(), begin.begin(), begin.end());
  net.nodes.insert(net.nodes.end(), end.begin(), end.end());
  std::erase_if(net.inputs, [&](value_id id) { return std::ranges::find(inputs, id) != inputs.end(); });
  std::erase_if(net.outputs, [&](const auto& o) {
    return std::ranges::any_of(states, [&](const auto& s) { return s.first == o.first; });
  });
  net.inputs.push_back(before);
  net.outputs.emplace_back("next_" + name, after);
  return {{"next_" + name, name}};
}

}  // namespace levada::onnx
