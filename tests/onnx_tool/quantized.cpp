// SPDX-License-Identifier: Apache-2.0
// Convolutions of integers: QLinearConv, and a Conv between DequantizeLinear and QuantizeLinear.

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"

namespace onnx_tool_quantized {

using namespace levada_test;
namespace onnx = levada::onnx;
using strings = std::vector<std::string>;
using onnx::element;

message bytes(const dims& extents, const std::vector<int>& elements, std::string_view name,
              element type = element::u8) {
  return tensor(type, extents, std::vector<char>(elements.begin(), elements.end()), name);
}
message words(const dims& extents, const std::vector<std::int32_t>& elements, std::string_view name) {
  return tensor(element::i32, extents, elements, name);
}

/// A picture of bytes in steps of 0.5 from 128 on, two filters of 1 x 1 in steps of 0.25 and 0.5, and a result in steps
/// of 2 from 3 on.
graph_text of_bytes() {
  graph_text g;
  g.inputs = {value("x", {1, 2, 4, 4}, element::u8)};
  g.outputs = {value("y", {}, element::u8)};
  g.initializers = {floats({}, {0.5f}, "xs"),
                    bytes({}, {128}, "xz"),
                    floats({}, {2}, "ys"),
                    bytes({}, {3}, "yz"),
                    bytes({2, 2, 1, 1}, {1, -2, 3, -128}, "w", element::i8),
                    floats({2}, {0.25f, 0.5f}, "ws"),
                    bytes({2}, {0, 0}, "wz", element::i8),
                    words({2}, {40, -16}, "b"),
                    floats({2}, {0.125f, 0.25f}, "bs"),
                    floats({}, {0}, "zero")};
  return g;
}
/// The nodes before a Conv, which gives "c".
std::vector<message> between() {
  return {node("DequantizeLinear", {"x", "xs", "xz"}, {"xf"}),
          node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"}, {attribute("axis", 0)}),
          node("DequantizeLinear", {"b", "bs"}, {"bf"}, {attribute("axis", 0)}),
          node("Conv", {"xf", "wf", "bf"}, {"c"})};
}

TEST_CASE("QLinearConv of weights that are int8") {
  graph_text g = of_bytes();
  g.nodes = {node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, {"y"})};
  const converted c(model(g));
  CHECK(c.has("nn::qlinear_conv2d<\"y\", 2, std::uint8_t, lv::size<1>>(w, {{0.5f, 128}, {2.0f, 3}})"));
  CHECK(c.weights.at("y.weight").as<std::int64_t>() == std::vector<std::int64_t>{1, -2, 3, -128});
  CHECK(c.weights.at("y.weight").type() == element::i8);
  CHECK(c.weights.at("y.weight_scale").as<double>() == std::vector<double>{0.25, 0.5});
  CHECK(c.weights.at("y.bias").as<std::int64_t>() == std::vector<std::int64_t>{40, -16});
  // Weights of uint8 around 128 are int8 without it; around 100 one of 255 is not.
  g.initializers[4] = bytes({2, 2, 1, 1}, {128, 0, 255, 1}, "w");
  g.initializers[6] = bytes({}, {128}, "wz");
  g.initializers[5] = floats({}, {0.25f}, "ws");
  const converted shifted(model(g));
  CHECK(shifted.weights.at("y.weight").as<std::int64_t>() == std::vector<std::int64_t>{0, -128, 127, -127});
  CHECK(shifted.weights.at("y.weight_scale").as<double>() == std::vector<double>{0.25, 0.25});
  g.initializers[6] = bytes({}, {100}, "wz");
  CHECK_FALSE(converted(model(g)).has("qlinear_conv2d"));
}

TEST_CASE("a Conv between integers computes with them") {
  graph_text g = of_bytes();
  g.nodes = between();
  g.nodes.push_back(node("QuantizeLinear", {"c", "ys", "yz"}, {"y"}));
  CHECK(ops_of(simplified(g)) == strings{"QLinearConv"});
  const converted c(model(g));
  CHECK(c.has("nn::qlinear_conv2d<\"c\", 2, std::uint8_t, lv::size<1>>(w, {{0.5f, 128}, {2.0f, 3}})"));
  CHECK(c.weights.at("c.bias").as<std::int64_t>() == std::vector<std::int64_t>{40, -16});
  CHECK(c.weights.at("c.weight").type() == element::i8);

  // With a bias of floats, which is rounded to its steps.
  g.nodes[3] = node("Conv", {"xf", "wf", "floats"}, {"c"});
  g.initializers.push_back(floats({2}, {0.45f, -0.3f}, "floats"));
  CHECK(converted(model(g)).weights.at("c.bias").as<std::int64_t>() == std::vector<std::int64_t>{4, -1});
  g.nodes[3] = node("Conv", {"xf", "wf"}, {"c"});
  CHECK(converted(model(g)).has("lv::size<1>, lv::no_bias>(w, {{"));
}

TEST_CASE("a relu, or a clip beyond the largest integer, before the result is rounded") {
  graph_text g = of_bytes();
  g.nodes = between();
  g.nodes.push_back(node("Relu", {"c"}, {"r"}));
  g.nodes.push_back(node("QuantizeLinear", {"r", "ys", "yz"}, {"y"}));
  CHECK(converted(model(g)).has("{2.0f, 3}, true})"));
  g.initializers.push_back(floats({}, {504}, "high"));  // 252 steps of 2
  g.nodes[4] = node("Clip", {"c", "zero", "high"}, {"r"});
  CHECK(converted(model(g)).has("{2.0f, 3}, true})"));
  g.initializers.back() = floats({}, {6}, "high");
  CHECK(ops_of(simplified(g)) == strings{"QLinearConv", "Clip", "QuantizeLinear"});
  CHECK(converted(model(g)).has("2, float, lv::size<1>>(w, {{0.5f, 128}, {}})"));
}

TEST_CASE("what is no convolution of integers stays one of floats") {
  graph_text g = of_bytes();
  const auto ops = [&] { return ops_of(simplified(g)); };
  // Somebody else takes what is rounded.
  g.nodes = between();
  g.nodes.push_back(node("QuantizeLinear", {"c", "ys", "yz"}, {"y"}));
  g.nodes.push_back(node("Relu", {"c"}, {"z"}));
  g.outputs.push_back(value("z", {}));
  CHECK(ops() == strings{"QLinearConv", "QuantizeLinear", "Relu"});
  CHECK(converted(model(g)).has("2, float, lv::size<1>>(w"));
  g.nodes.pop_back();
  g.outputs.pop_back();
  // Scales along another axis than that of the filters.
  g.nodes[1] = node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"}, {attribute("axis", 1)});
  CHECK(ops() == strings{"DequantizeLinear", "Conv", "QuantizeLinear"});
  g.nodes[1] = between()[1];
  // A bias that is beyond int32 in such steps.
  g.nodes[3] = node("Conv", {"xf", "wf", "large"}, {"c"});
  g.initializers.push_back(floats({2}, {0, 1e9f}, "large"));
  CHECK(ops() == strings{"DequantizeLinear", "Conv", "QuantizeLinear"});
  // Weights of floats.
  g.nodes[3] = node("Conv", {"xf", "v"}, {"c"});
  g.initializers.push_back(floats({2, 2, 1, 1}, {1, 2, 3, 4}, "v"));
  CHECK(ops() == strings{"DequantizeLinear", "Conv", "QuantizeLinear"});
}

TEST_CASE("ops that choose or move elements take the integers") {
  graph_text g = of_bytes();
  g.nodes = {node("DequantizeLinear", {"x", "xs", "xz"}, {"xf"}),
             node("MaxPool", {"xf"}, {"m"}, {attribute("kernel_shape", {2, 2}), attribute("strides", {2, 2})}),
             node("QuantizeLinear", {"m", "xs", "xz"}, {"q"}),
             node("DequantizeLinear", {"q", "xs", "xz"}, {"qf"}),
             node("Concat", {"qf", "qf"}, {"cf"}, {attribute("axis", 1)}),
             node("QuantizeLinear", {"cf", "xs", "xz"}, {"y"})};
  CHECK(ops_of(simplified(g)) == strings{"MaxPool", "Concat"});
  CHECK(converted(model(g)).has("nn::max_pool2d<2>"));
  // Several behind one another, behind a convolution.
  graph_text deep = of_bytes();
  deep.nodes = between();
  deep.nodes.push_back(node("Relu", {"c"}, {"r"}));
  deep.nodes.push_back(
      node("MaxPool", {"r"}, {"m"}, {attribute("kernel_shape", {2, 2}), attribute("strides", {2, 2})}));
  deep.nodes.push_back(node("Flatten", {"m"}, {"f"}, {attribute("axis", 1)}));
  deep.nodes.push_back(node("QuantizeLinear", {"f", "ys", "yz"}, {"y"}));
  CHECK(ops_of(simplified(deep)) == strings{"QLinearConv", "MaxPool", "Flatten"});
  CHECK(converted(model(deep)).has("{2.0f, 3}, true})"));
  // Other steps are rounded anew.
  g.nodes.back() = node("QuantizeLinear", {"cf", "ys", "yz"}, {"y"});
  CHECK(ops_of(simplified(g)) == strings{"MaxPool", "DequantizeLinear", "Concat", "QuantizeLinear"});
}

TEST_CASE("a sum between integers computes with them") {
  graph_text g = of_bytes();
  g.nodes = {node("DequantizeLinear", {"x", "xs", "xz"}, {"a"}), node("DequantizeLinear", {"x", "ys", "yz"}, {"b"}),
             node("Add", {"a", "b"}, {"s"}), node("Relu", {"s"}, {"r"}),
             node("QuantizeLinear", {"r", "ys", "yz"}, {"y"})};
  CHECK(ops_of(simplified(g)) == strings{"QLinearAdd"});
  CHECK(converted(model(g)).has("nn::qlinear_add<std::uint8_t>({0.5f, 128}, {2.0f, 3}, {2.0f, 3}, true)"));
  // One side is no tensor of integers of that shape.
  g.nodes[1] = node("Neg", {"a"}, {"b"});
  CHECK(ops_of(simplified(g)) == strings{"DequantizeLinear", "Neg", "Add", "Relu", "QuantizeLinear"});
  g.initializers.push_back(floats({1, 2, 1, 1}, {1, 2}, "b"));
  g.nodes.erase(g.nodes.begin() + 1);
  CHECK(ops_of(simplified(g)) == strings{"DequantizeLinear", "Add", "Relu", "QuantizeLinear"});

  // As ONNX Runtime's quantizer writes it where it leaves no DequantizeLinear.
  g.nodes = {node("QLinearAdd", {"x", "xs", "xz", "x", "ys", "yz", "ys", "yz"}, {"y"}, {}, "", "com.microsoft")};
  CHECK(converted(model(g)).has("nn::qlinear_add<std::uint8_t>({0.5f, 128}, {2.0f, 3}, {2.0f, 3})"));
}

TEST_CASE("a product by a constant between integers computes with them") {
  graph_text g = of_bytes();
  g.inputs = {value("x", {1, 3}, element::u8)};
  g.initializers[4] = bytes({3, 2}, {1, -2, 3, -128, 5, 6}, "w", element::i8);
  g.nodes = {node("DequantizeLinear", {"x", "xs", "xz"}, {"xf"}),
             node("DequantizeLinear", {"w", "ws", "wz"}, {"wf"}, {attribute("axis", 1)}),
             node("Gemm", {"xf", "wf", "bf"}, {"g"}), node("Relu", {"g"}, {"r"}),
             node("QuantizeLinear", {"r", "ys", "yz"}, {"y"})};
  g.initializers.push_back(floats({2}, {5, -4}, "bf"));
  CHECK(ops_of(simplified(g)) == strings{"QGemm"});
  const converted c(model(g));
  CHECK(c.has("nn::qlinear_dense<\"g\", 2, std::uint8_t>(w, {{0.5f, 128}, {2.0f, 3}, true})"));
  CHECK(c.weights.at("g.weight").as<std::int64_t>() == std::vector<std::int64_t>{1, 3, 5, -2, -128, 6});
  CHECK(c.weights.at("g.weight_scale").as<double>() == std::vector<double>{0.25, 0.5});
  CHECK(c.weights.at("g.bias").as<std::int64_t>() == std::vector<std::int64_t>{40, -16});
  // The other way round, with one scale, and to numbers.
  g.initializers[4] = bytes({2, 3}, {1, 3, 5, -2, -128, 6}, "w", element::i8);
  g.initializers[5] = floats({}, {0.25f}, "ws");
  g.initializers[6] = bytes({}, {0}, "wz", element::i8);
  g.nodes[2] = node("Gemm", {"xf", "wf"}, {"y"}, {attribute("transB", 1)});
  g.nodes.resize(3);
  const converted turned(model(g));
  CHECK(turned.has("nn::qlinear_dense<\"y\", 2, float, lv::no_bias>(w, {{0.5f, 128}, {}})"));
  CHECK(turned.weights.at("y.weight").as<std::int64_t>() == c.weights.at("g.weight").as<std::int64_t>());
  CHECK(turned.weights.at("y.weight_scale").as<double>() == std::vector<double>{0.25, 0.25});
  // A MatMul is such a product, one of several rows is not.
  g.initializers[4] = bytes({3, 2}, {1, -2, 3, -128, 5, 6}, "w", element::i8);
  g.nodes[2] = node("MatMul", {"xf", "wf"}, {"y"});
  CHECK(converted(model(g)).weights.at("y.weight").as<std::int64_t>() == c.weights.at("g.weight").as<std::int64_t>());
  g.inputs = {value("x", {2, 3}, element::u8)};
  CHECK(ops_of(simplified(g)) == strings{"DequantizeLinear", "MatMul"});
}

TEST_CASE("integers that are numbers for a moment only are what they were") {
  graph_text g = of_bytes();
  g.nodes = {node("DequantizeLinear", {"x", "xs", "xz"}, {"f"}), node("QuantizeLinear", {"f", "xs", "xz"}, {"q"}),
             node("DequantizeLinear", {"q", "xs", "xz"}, {"g"}), node("Relu", {"g"}, {"r"}),
             node("QuantizeLinear", {"g", "xs", "xz"}, {"y"})};
  g.outputs = {value("r", {})};
  CHECK(ops_of(simplified(g)) == strings{"DequantizeLinear", "Relu"});
  CHECK(simplified(g).nodes[0].inputs[0] == simplified(g).inputs[0]);
}

}  // namespace onnx_tool_quantized
