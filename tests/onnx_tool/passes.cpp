// SPDX-License-Identifier: Apache-2.0
// The passes, by the structure that they leave and the numbers that they fold.

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"

namespace onnx_tool_passes {

using namespace levada_test;
namespace onnx = levada::onnx;
using strings = std::vector<std::string>;

graph_text of_picture() {
  graph_text g;
  g.inputs = {value("x", {1, 2, 4, 4})};
  g.outputs = {value("y", {})};
  return g;
}

TEST_CASE("a batch normalisation goes into the convolution before it") {
  graph_text g = of_picture();
  g.initializers = {floats({2, 2, 1, 1}, {1, 2, 3, 4}, "w"),
                    floats({2}, {1, 1}, "b"),
                    floats({2}, {2, 3}, "scale"),
                    floats({2}, {5, 6}, "shift"),
                    floats({2}, {1, 0}, "mean"),
                    floats({2}, {4, 1}, "var")};
  g.nodes = {node("Conv", {"x", "w", "b"}, {"c"}),
             node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, {"y"},
                  {message().block(1, std::string_view("epsilon")).number(20, 1)})};
  CHECK(ops_of(simplified(g)) == strings{"Conv"});
  const converted c(model(g));
  // scale / sqrt(var) is 1 and 3: the bias is (1 - 1) 1 + 5 and (1 - 0) 3 + 6.
  CHECK(c.weights.at("c.weight").as<double>() == std::vector<double>{1, 2, 9, 12});
  CHECK(c.weights.at("c.bias").as<double>() == std::vector<double>{5, 9});
  // Not where somebody else takes what the convolution gives.
  g.nodes.push_back(node("Relu", {"c"}, {"z"}));
  g.outputs.push_back(value("z", {}));
  CHECK(simplified(g).nodes.size() == 3);
}

TEST_CASE("what follows a Gemm goes into it where its sum is of columns") {
  graph_text g;
  g.inputs = {value("x", {2, 2})};
  g.outputs = {value("y", {})};
  const auto with = [&](const dims& sum) {
    g.initializers = {floats({2, 2}, {1, 2, 3, 4}, "b"), floats(sum, {10, 20}, "c"), floats({1}, {2}, "k")};
    g.nodes = {node("Gemm", {"x", "b", "c"}, {"g"}), node("Mul", {"g", "k"}, {"y"})};
  };
  for (const dims& row : {dims{2}, dims{1, 2}}) {
    with(row);
    CHECK(ops_of(simplified(g)) == strings{"Gemm"});
    CHECK(converted(model(g)).weights.at("g.bias").as<double>() == std::vector<double>{20, 40});
  }
  with({2, 1});  // as many numbers, one a row
  CHECK(ops_of(simplified(g)) == strings{"Gemm", "Mul"});
}

TEST_CASE("a pad with zeros goes into the convolution behind it, one with ones does not") {
  graph_text g = of_picture();
  g.initializers = {floats({1, 2, 3, 3}, std::vector<float>(18, 1), "w"), integers({0, 0, 1, 2, 0, 0, 1, 0}, "pads"),
                    floats({}, {0}, "number")};
  g.nodes = {node("Pad", {"x", "pads", "number"}, {"p"}), node("Conv", {"p", "w"}, {"y"})};
  CHECK(ops_of(simplified(g)) == strings{"Conv"});
  CHECK(converted(model(g)).has("lv::padding<1, 2, 1, 0>"));
  g.initializers[2] = floats({}, {1}, "number");
  CHECK(ops_of(simplified(g)) == strings{"Pad", "Conv"});
}

TEST_CASE("transposes cancel around ops of single elements") {
  graph_text g = of_picture();
  g.nodes = {node("Transpose", {"x"}, {"t"}, {attribute("perm", {0, 2, 3, 1})}), node("Relu", {"t"}, {"r"}),
             node("Transpose", {"r"}, {"y"}, {attribute("perm", {0, 3, 1, 2})})};
  CHECK(ops_of(simplified(g)) == strings{"Relu"});
  g.nodes[2] = node("Transpose", {"r"}, {"y"}, {attribute("perm", {0, 1, 3, 2})});
  CHECK(simplified(g).nodes.size() == 2);
}

TEST_CASE("patterns become the op that they are") {
  graph_text g = of_picture();
  g.nodes = {node("Sigmoid", {"x"}, {"s"}), node("Mul", {"x", "s"}, {"y"})};
  CHECK(converted(model(g)).has("nn::silu"));
  g.nodes = {node("HardSigmoid", {"x"}, {"s"}), node("Mul", {"x", "s"}, {"y"})};
  CHECK_FALSE(converted(model(g)).has("nn::hard_swish"));  // its slope is 0.2, not 1 / 6
  g.initializers = {floats({}, {3}, "three"), floats({}, {0}, "low"), floats({}, {6}, "six")};
  g.nodes = {node("Add", {"x", "three"}, {"a"}), node("Clip", {"a", "low", "six"}, {"c"}),
             node("Mul", {"x", "c"}, {"m"}), node("Div", {"m", "six"}, {"y"})};
  CHECK(converted(model(g)).has("nn::hard_swish"));
}

}  // namespace onnx_tool_passes
