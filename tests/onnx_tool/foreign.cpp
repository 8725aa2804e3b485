// SPDX-License-Identifier: Apache-2.0
// Nodes that are left to ONNX Runtime: which, how they join, and the models that they become. What is not known here is
// an op of the domain "other".

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"

namespace onnx_tool_foreign {

using namespace levada_test;
namespace onnx = levada::onnx;
using strings = std::vector<std::string>;

const onnx::elaboration_options leaves = [] {
  onnx::elaboration_options options;
  options.leave_unsupported = true;
  return options;
}();

message other(const std::vector<std::string_view>& inputs, std::initializer_list<std::string_view> outputs,
              std::initializer_list<message> attributes = {}) {
  return node("Op", inputs, outputs, attributes, outputs.size() == 0 ? "" : *outputs.begin(), "other");
}
/// Of rows of four; what `said` names is of that type, too.
graph_text graph_of(std::vector<message> nodes, std::initializer_list<std::string_view> outputs,
                    std::initializer_list<std::string_view> said) {
  graph_text g;
  g.nodes = std::move(nodes);
  g.inputs = {value("x", {1, 4})};
  for (const std::string_view name : outputs) g.outputs.push_back(value(name, {1, 4}));
  for (const std::string_view name : said) g.values.push_back(value(name, {1, 4}));
  return g;
}
onnx::network left(const graph_text& g) {
  onnx::network net = elaborated(model(g), leaves);
  onnx::leave_to_onnx_runtime(net);
  return net;
}
/// The model of a stage as it stands among the weights, read again.
onnx::model_def model_in(const converted& made, const std::string& stage) {
  const auto bytes = made.weights.at(stage + ".model").bytes();
  return onnx::read_model({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, {});
}
converted converted_of(const graph_text& g) { return converted(model(g), leaves); }

TEST_CASE("an op that levada lacks becomes a stage of ONNX Runtime with a model of its own") {
  graph_text g = graph_of(
      {node("Relu", {"x"}, {"h"}), other({"h", "w"}, {"u"}, {attribute("turns", 3)}), node("Tanh", {"u"}, {"y"})},
      {"y"}, {"u"});
  g.initializers = {floats({2}, {1.5f, -2}, "w")};
  CHECK(refusal([&] { converted(model(g)); }) == "unsupported op other.Op, 1 time: \"u\"");
  const converted made = converted_of(g);
  CHECK(made.has("<levada/interop/onnx_runtime.hpp>"));
  CHECK(made.has("lv::onnx_runtime_stage<\"u\""));
  CHECK(made.has("lv::onnx_runtime_model(w, \"u.model\")"));

  const onnx::model_def inside = model_in(made, "u");
  REQUIRE(inside.graph.nodes.size() == 1);
  const onnx::node_def& n = inside.graph.nodes[0];
  CHECK(n.op == "Op");
  CHECK(n.domain == "other");
  CHECK(n.attributes.at("turns").integer == 3);
  CHECK(n.inputs == strings{"x0", "x1"});
  CHECK(n.outputs == strings{"y0"});
  REQUIRE(inside.graph.inputs.size() == 1);  // the constant is inside
  CHECK(inside.graph.inputs[0].name == "x0");
  CHECK(inside.graph.inputs[0].dims.at(1).value == 4);
  REQUIRE(inside.graph.initializers.size() == 1);
  CHECK(inside.graph.initializers[0].first == "x1");
  CHECK(inside.graph.initializers[0].second.as<double>() == std::vector<double>{1.5, -2});
  CHECK(inside.opsets.at("") == 17);
}

TEST_CASE("nodes that take from each other are one stage; what nobody else takes stays inside") {
  const graph_text g = graph_of(
      {other({"x"}, {"a", "b"}), other({"a", "x"}, {"c"}), node("Relu", {"b"}, {"r"}), node("Add", {"c", "r"}, {"y"})},
      {"y"}, {"a", "b", "c"});
  const onnx::network net = left(g);
  CHECK(ops_of(net) == strings{"OnnxRuntime", "Relu", "Add"});
  REQUIRE(net.nodes[0].foreign.size() == 2);
  CHECK(net.nodes[0].foreign[0].outputs == strings{"v0", "y0"});
  CHECK(net.nodes[0].foreign[1].inputs == strings{"v0", "x0"});
  CHECK(net.nodes[0].foreign[1].outputs == strings{"y1"});
  CHECK(net.nodes[0].outputs.size() == 2);
  CHECK(converted_of(g).has("nn::part<1>"));
}

TEST_CASE("a way through nodes of ours keeps them apart") {
  const graph_text g =
      graph_of({other({"x"}, {"a"}), node("Relu", {"a"}, {"r"}), other({"a", "r"}, {"y"})}, {"y"}, {"a"});
  CHECK(ops_of(left(g)) == strings{"OnnxRuntime", "Relu", "OnnxRuntime"});
  // The last one takes of both of the first two, of which one is behind ours: it joins the other.
  const graph_text later =
      graph_of({other({"x"}, {"a"}), node("Relu", {"a"}, {"r"}), other({"r"}, {"b"}), other({"a", "b"}, {"y"})}, {"y"},
               {"a", "b"});
  const onnx::network net = left(later);
  CHECK(ops_of(net) == strings{"OnnxRuntime", "Relu", "OnnxRuntime"});
  CHECK(net.nodes[2].foreign.size() == 2);
}

TEST_CASE("an op whose form levada lacks is left, too") {
  // A Softmax-like op is known; a Resize by an unknown mode is not written.
  graph_text g = graph_of({node("Relu", {"x"}, {"h"}), node("Cast", {"h"}, {"y"}, {attribute("to", 8)})}, {}, {});
  g.outputs = {value("y", {1, 4}, onnx::element::f32)};
  CHECK(refusal([&] { converted(model(g)); }) != "");
  CHECK(ops_of(left(g)) == strings{"Relu", "OnnxRuntime"});
}

TEST_CASE("a graph inside a node takes what is around it by its name") {
  graph_text inside;
  inside.nodes = {node("Add", {"v0", "x"}, {"v1"})};
  inside.inputs = {value("v0", {1, 4})};
  inside.outputs = {value("v1", {1, 4})};
  const graph_text g = graph_of(
      {node("Relu", {"x"}, {"h"}), other({"h"}, {"y"}, {graph_attribute("body", inside.written())})}, {"y"}, {});
  const onnx::model_def written = model_in(converted_of(g), "y");
  REQUIRE(written.graph.nodes.size() == 2);
  CHECK(written.graph.nodes[0].op == "Identity");
  CHECK(written.graph.nodes[0].inputs == strings{"x1"});
  CHECK(written.graph.nodes[0].outputs == strings{"x"});
  CHECK(written.graph.inputs.size() == 2);
}

TEST_CASE("what cannot be left is said") {
  const auto refused = [](const graph_text& g, bool widens = true) {
    onnx::elaboration_options options = leaves;
    options.widen_half = widens;
    return refusal([&] { elaborated(model(g), options); });
  };
  const std::string unsaid =
      refused(graph_of({other({"x"}, {"a"}), other({"a"}, {"b"}), node("Relu", {"b"}, {"y"})}, {"y"}, {}));
  CHECK(unsaid.find("Op \"a\" is not left to ONNX Runtime: the model does not say the type and the extents of \"a\"") !=
        std::string::npos);
  CHECK(unsaid.find("Op \"b\" is") == std::string::npos);  // it follows
  CHECK(unsaid.find("unsupported op other.Op, 2 times, first: \"a\"") != std::string::npos);

  graph_text constant = graph_of({other({"w"}, {"a"}), node("Add", {"a", "x"}, {"y"})}, {"y"}, {"a"});
  constant.initializers = {floats({4}, {1, 2, 3, 4}, "w")};
  CHECK(refused(constant).find("it takes nothing of the item") != std::string::npos);

  graph_text half = graph_of({other({"x"}, {"a"}), node("Relu", {"a"}, {"y"})}, {"y"}, {});
  half.values = {value("a", {1, 4}, onnx::element::f16)};
  CHECK(refused(half).find("\"a\" is of half precision: give --half keep") != std::string::npos);
  CHECK(refused(half, false) == "");
}

}  // namespace onnx_tool_foreign
