// SPDX-License-Identifier: Apache-2.0
#pragma once
// ops/body.hpp: an op as nodes of others.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "op_definition.hpp"

namespace levada::onnx {

/// Writes the nodes of an op: the inputs are called "in0" and so on, the outputs "out0".
class body {
 public:
  explicit body(const op_call& call) : call_(call) {
    made_.name = call.called().op;
    made_.opsets.emplace("", 17);
    for (std::size_t i = 0; i < call.inputs(); ++i) made_.inputs.push_back(in(i));
    for (std::size_t i = 0; i < call.outputs(); ++i) made_.outputs.push_back("out" + std::to_string(i));
  }

  static std::string in(std::size_t i) { return "in" + std::to_string(i); }

  std::string constant_of(constant known) {
    attribute value;
    value.tensor = std::move(known);
    return add("Constant", {}, {{"value", value}});
  }
  std::string number(element type, double number) { return constant_of(constant::of(type, {}, std::vector{number})); }
  std::string integers(const std::vector<std::int64_t>& all) {
    return constant_of(constant::of(element::i64, {static_cast<std::int64_t>(all.size())}, all));
  }

  std::string add(std::string_view op, std::vector<std::string> inputs, attributes given = {}) {
    std::string name = "t" + std::to_string(made_.nodes.size());
    add_as(name, op, std::move(inputs), std::move(given));
    return name;
  }
  std::string add(std::string_view op, std::vector<std::string> inputs, std::string_view key, std::int64_t number) {
    return add(op, std::move(inputs), {{std::string(key), whole(number)}});
  }
  std::string cast(const std::string& from, element type) {
    return add("Cast", {from}, "to", static_cast<std::int64_t>(type));
  }
  std::string reduce(std::string_view op, const std::string& from, const std::vector<std::int64_t>& axes, bool keep) {
    attributes given{{"keepdims", whole(keep)}};
    if (op == "ReduceSum") return add(op, {from, integers(axes)}, std::move(given));
    given["axes"].integers = axes;
    return add(op, {from}, std::move(given));
  }
  /// Output `i` of the op, where somebody takes it.
  void give(std::size_t i, const std::string& value) {
    if (call_.gives(i)) add_as("out" + std::to_string(i), "Identity", {value}, {});
  }

  static attribute whole(std::int64_t number) {
    attribute a;
    a.integer = number;
    return a;
  }

  function_def result() { return std::move(made_); }

 private:
  void add_as(std::string name, std::string_view op, std::vector<std::string> inputs, attributes given) {
    node_def n;
    n.op = op;
    n.inputs = std::move(inputs);
    n.outputs = {std::move(name)};
    n.attributes = std::move(given);
    made_.nodes.push_back(std::move(n));
  }

  const op_call& call_;
  function_def made_;
};

/// An op that exists as the nodes of others alone.
inline op_definition expanded(std::string_view name, std::optional<function_def> (*expand)(const op_call&),
                              std::string_view domain = "") {
  op_definition op{name, [](const op_call& call) -> std::vector<tensor_type> { call.fail("it was not expanded"); }};
  op.domain = domain;
  op.expand = expand;
  return op;
}

}  // namespace levada::onnx
