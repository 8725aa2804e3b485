// SPDX-License-Identifier: Apache-2.0
// From a model to a network: shapes are inferred, constants are folded, graphs and functions stand in their place.

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"
#include "output/names.hpp"

namespace onnx_tool_elaborate {

using namespace levada_test;
namespace onnx = levada::onnx;
using strings = std::vector<std::string>;

/// y = op(x...), all of one node.
graph_text one_node(const message& n, std::vector<message> inputs) {
  graph_text g;
  g.nodes = {n};
  g.inputs = std::move(inputs);
  g.outputs = {value("y", {})};
  return g;
}
onnx::extents shape_of(const graph_text& g, std::int64_t opset = 17) {
  const onnx::network net = elaborated(model(g, opset));
  return net[net.outputs.at(0).second].dims;
}
std::string refused(const graph_text& g, const onnx::elaboration_options& options = {}) {
  return refusal([&] { elaborated(model(g), options); });
}

TEST_CASE("shapes are inferred") {
  const auto add = [](const dims& a, const dims& b) {
    return one_node(node("Add", {"a", "b"}, {"y"}), {value("a", a), value("b", b)});
  };
  CHECK(shape_of(add({2, 3}, {3})) == dims{2, 3});
  CHECK(shape_of(add({2, 1, 4}, {3, 1})) == dims{2, 3, 4});
  CHECK(shape_of(add({}, {5})) == dims{5});
  CHECK(refused(add({2, 3}, {2})) == "Add \"y\": its inputs do not broadcast");
  const auto conv = [](std::initializer_list<message> attributes) {
    graph_text g = one_node(node("Conv", {"x", "w"}, {"y"}, attributes), {value("x", {1, 3, 9, 9})});
    g.initializers = {floats({4, 3, 3, 3}, std::vector<float>(108), "w")};
    return g;
  };
  CHECK(shape_of(conv({})) == dims{1, 4, 7, 7});
  CHECK(shape_of(conv({attribute("strides", {2, 2}), attribute("pads", {1, 1, 1, 1})})) == dims{1, 4, 5, 5});
  CHECK(shape_of(conv({attribute("dilations", {3, 1})})) == dims{1, 4, 3, 7});
  CHECK(refused(conv({attribute("strides", {0, 1})})) == "Conv \"y\": its window is not positive");
  graph_text product = one_node(node("MatMul", {"a", "b"}, {"y"}), {value("a", {5, 1, 2, 3}), value("b", {4, 3, 6})});
  CHECK(shape_of(product) == dims{5, 4, 2, 6});
}

TEST_CASE("arithmetic of shapes is folded") {
  // x [1, 2, 3, 4] becomes [1, 2, 12] by Shape, Gather, Concat and Reshape, as exporters write it.
  graph_text g;
  g.inputs = {value("x", {1, 2, 3, 4})};
  g.outputs = {value("y", {})};
  g.initializers = {integers({0}, "zero"), integers({1}, "one"), integers({-1}, "rest")};
  g.nodes = {node("Shape", {"x"}, {"s"}),
             node("Gather", {"s", "zero"}, {"n"}),
             node("Gather", {"s", "one"}, {"c"}),
             node("Concat", {"n", "c", "rest"}, {"wanted"}, {attribute("axis", 0)}),
             node("Reshape", {"x", "wanted"}, {"r"}),
             node("Relu", {"r"}, {"y"})};
  const onnx::network net = elaborated(model(g));
  CHECK(ops_of(net) == strings{"Reshape", "Relu"});
  CHECK(net[net.outputs[0].second].dims == dims{1, 2, 12});
  // Where the shape depends on the item it says so, once.
  g.inputs.push_back(value("wanted_here", {3}, onnx::element::i64));
  g.nodes[4] = node("Reshape", {"x", "wanted_here"}, {"r"});
  CHECK(refused(g) == "Reshape \"r\": shape depends on the item; only constants have a static shape");
  onnx::elaboration_options options;
  options.bound["wanted_here"] = onnx::constant::of(onnx::element::i64, {3}, std::vector<std::int64_t>{1, 6, 4});
  CHECK(elaborated(model(g), options)[elaborated(model(g), options).outputs[0].second].dims == dims{1, 6, 4});
  options.bound["wanted_here"] = onnx::constant::of(onnx::element::i64, {2}, std::vector<std::int64_t>{6, 4});
  CHECK(refused(g, options).starts_with("what is bound to input \"wanted_here\" has another type or other extents"));
}

TEST_CASE("free axes and unsupported ops are all in one error, with their number") {
  graph_text g;
  g.inputs = {value("x", {-1, 3, -1}), value("k", {-1})};
  g.outputs = {value("y", {})};
  CHECK(refused(g) ==
        "free axis 0 of input \"x\": give it with --dims free=N\nfree axis 2 of input \"x\": give it with --dims "
        "free=N\nfree axis 0 of input \"k\": give it with --dims free=N");
  onnx::elaboration_options options;
  options.dims["free"] = {2};
  options.dims["rows"] = {2};
  CHECK(refused(g, options) == "no input has a free axis \"rows\"");
  options.dims.erase("rows");
  g.nodes = {node("NoSuch", {"x"}, {"a"}, {}, "first"),
             node("NoSuch", {"a"}, {"b"}),
             node("Other", {"x"}, {"c"}, {}, "third", "own"),
             node("Add", {"b", "c"}, {"d"}),
             node("Relu", {"missing"}, {"e"}),
             node("Reshape", {"x", "k"}, {"y"})};
  const std::string text = refused(g, options);
  CAPTURE(text);
  CHECK(text.find("unsupported op NoSuch, 2 times, first: \"first\"") != std::string::npos);
  CHECK(text.find("unsupported op own.Other, 1 time: \"third\"") != std::string::npos);
  CHECK(text.find("Relu \"e\": nobody gives \"missing\" before it") != std::string::npos);
  CHECK(text.find("Reshape \"y\": shape depends on the item") != std::string::npos);
}

TEST_CASE("of an If of a constant the branch that is taken stays") {
  graph_text then, otherwise;
  then.nodes = {node("Relu", {"x"}, {"b"})};
  then.outputs = {value("b", {2})};
  otherwise.nodes = {node("NoSuch", {"x"}, {"b"})};
  otherwise.outputs = {value("b", {2})};
  graph_text g;
  g.inputs = {value("x", {2})};
  g.outputs = {value("y", {2})};
  g.nodes = {
      node("If", {"c"}, {"y"},
           {graph_attribute("then_branch", then.written()), graph_attribute("else_branch", otherwise.written())})};
  g.initializers = {tensor(onnx::element::boolean, {}, std::vector<char>{1}, "c")};
  CHECK(ops_of(elaborated(model(g))) == strings{"Relu"});
  g.initializers = {tensor(onnx::element::boolean, {}, std::vector<char>{0}, "c")};
  CHECK(refused(g) == "unsupported op NoSuch, 1 time: \"b\"");
  g.initializers.clear();
  g.inputs.push_back(value("c", {}, onnx::element::boolean));
  CHECK(refused(g) == "unsupported op NoSuch, 1 time: \"b\"");
  otherwise.nodes = {node("ReduceSum", {"x"}, {"b"})};
  const auto with = [&](const graph_text& branch) {
    g.nodes = {
        node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", then.written()), graph_attribute("else_branch", branch.written())})};
  };
  with(otherwise);
  CHECK(refused(g).find("its branches give tensors of other types or extents") != std::string::npos);
  otherwise.nodes = {node("Neg", {"x"}, {"b"})};
  with(otherwise);
  const onnx::network net = elaborated(model(g));
  CHECK(ops_of(net) == strings{"If"});
  CHECK(ops_of(*net.nodes[0].branches[0]) == strings{"Relu"});
  CHECK(ops_of(*net.nodes[0].branches[1]) == strings{"Neg"});
}

TEST_CASE("branches see what is around them") {
  graph_text branch;
  branch.nodes = {node("Add", {"x", "k"}, {"s"}), node("Mul", {"s", "h"}, {"b"})};
  branch.outputs = {value("b", {2})};
  graph_text g;
  g.inputs = {value("x", {2}), value("c", {1}, onnx::element::boolean)};
  g.outputs = {value("y", {2})};
  g.initializers = {floats({2}, {1, 2}, "k")};
  g.nodes = {node("Relu", {"x"}, {"h"}), node("If", {"c"}, {"y"},
                                              {graph_attribute("then_branch", branch.written()),
                                               graph_attribute("else_branch", branch.written())})};
  const onnx::network net = elaborated(model(g));
  REQUIRE(net.nodes.size() == 2);
  CHECK(net.nodes[1].inputs.size() == 3);  // c, x and h; k is a constant of each branch
  CHECK(net.nodes[1].branches[0]->inputs.size() == 3);
  const converted c(model(g));
  CHECK(c.has("y_then(w)"));
  CHECK(c.weights.size() == 2);
  g.inputs[1] = value("c", {2}, onnx::element::boolean);
  CHECK(refused(g).find("its condition is no bool") != std::string::npos);
}

TEST_CASE("functions are inlined with their attributes and see their arguments alone") {
  const auto function = [](const message& body) {
    return message()
        .block(1, std::string_view("part"))
        .block(4, std::string_view("a"))
        .block(5, std::string_view("b"))
        .block(6, std::string_view("wanted"))
        .block(7, body)
        .block(9, message().number(2, 17))
        .block(10, std::string_view("own"));
  };
  const message by_name =
      message().block(1, std::string_view("axis")).number(20, 2).block(21, std::string_view("wanted"));
  graph_text g;
  g.inputs = {value("x", {2, 3})};
  g.outputs = {value("y", {})};
  g.nodes = {node("part", {"x"}, {"h"}, {attribute("wanted", 0)}, "p", "own"), node("Relu", {"h"}, {"y"})};
  const onnx::network net = elaborated(model(g, 17, {function(node("Softmax", {"a"}, {"b"}, {by_name}))}));
  REQUIRE(ops_of(net) == strings{"Softmax", "Relu"});
  CHECK(net.nodes[0].attributes.at("axis").integer == 0);
  CHECK(net.nodes[0].name == "p/b");
  CHECK(refusal([&] {
          elaborated(model(g, 17, {function(node("Add", {"a", "x"}, {"b"}))}));
        }).find("nobody gives \"x\" before it") != std::string::npos);
  CHECK(refusal([&] {
          elaborated(model(g, 17, {function(node("part", {"a"}, {"b"}, {}, "", "own"))}));
        }).find("functions call each other too deep") != std::string::npos);
}

TEST_CASE("names are identifiers, short and different") {
  CHECK(onnx::short_names({"/a/b/Conv", "/a/c/Conv", "x.0", "3", "/a/b/Relu"}) ==
        strings{"b_Conv", "c_Conv", "x_0", "n3", "Relu"});
  CHECK(onnx::short_names({"x-1", "x_1"}) == strings{"x_1", "x_1_2"});
  CHECK(onnx::identifier("") == "n");
}

TEST_CASE("the same model gives the same bytes") {
  graph_text g;
  g.inputs = {value("x", {1, 4})};
  g.outputs = {value("y", {1, 2})};
  g.initializers = {floats({4, 2}, std::vector<float>(8, 0.25f), "w"), floats({2}, {1, 2}, "b")};
  g.nodes = {node("Gemm", {"x", "w", "b"}, {"h"}, {}, "gemm"), node("Relu", {"h"}, {"y"})};
  const converted first(model(g)), second(model(g));
  CHECK(first.header == second.header);
  REQUIRE(first.weights.size() == second.weights.size());
  CHECK(first.has("nn::dense<\"gemm\", 2>(w) | nn::relu"));
  CHECK(first.weights.at("gemm.weight").dims() == dims{2, 4});
  CHECK(first.has("using x_type = lv::tensor<float, 4>;"));
}

TEST_CASE("float16 weights are widened or kept") {
  graph_text g;
  g.inputs = {value("x", {1, 2}, onnx::element::f16)};
  g.outputs = {value("y", {})};
  g.initializers = {tensor(onnx::element::f16, {2}, std::vector<std::uint16_t>{0x3c00, 0xc000}, "w")};
  g.nodes = {node("Mul", {"x", "w"}, {"y"})};
  onnx::elaboration_options options;
  CHECK(elaborated(model(g))[elaborated(model(g)).outputs[0].second].type == onnx::element::f32);
  CHECK(converted(model(g)).weights.begin()->second.as<double>() == std::vector<double>{1, -2});
  options.widen_half = false;
  CHECK(elaborated(model(g), options)[elaborated(model(g), options).outputs[0].second].type == onnx::element::f16);
}

}  // namespace onnx_tool_elaborate
