// SPDX-License-Identifier: Apache-2.0
// What opsets 18 to 24 changed, which the suite of opset 17 does not have; and what is older than opset 7.

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"

namespace onnx_tool_opsets {

using namespace levada_test;
namespace onnx = levada::onnx;

/// y = op(x [1, 2, 4, 4], the initializers).
struct one_op {
  graph_text g;

  one_op(const message& n, std::vector<message> initializers, onnx::element type = onnx::element::f32) {
    g.inputs = {value("x", {1, 2, 4, 4}, type)};
    g.outputs = {value("y", {})};
    g.nodes = {n};
    g.initializers = std::move(initializers);
  }
  std::string header(std::int64_t opset) const { return converted(model(g, opset)).header; }
  std::string refused(std::int64_t opset) const {
    return refusal([&] { header(opset); });
  }
};
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
message text_attribute(std::string_view name, std::string_view text) {
  return message().block(1, name).block(4, text).number(20, 3);
}

TEST_CASE("opset 18: axes of reductions and pads are inputs, Split counts its outputs") {
  const one_op largest(node("ReduceMax", {"x", "axes"}, {"y"}), {integers({2, 3}, "axes")});
  CHECK(has(largest.header(18), "nn::reduce_max<1, 2>"));
  const one_op nothing(node("ReduceMax", {"x", "axes"}, {"r"}, {attribute("noop_with_empty_axes", 1)}),
                       {integers({}, "axes")});
  graph_text g = nothing.g;
  g.nodes.push_back(node("Relu", {"r"}, {"y"}));
  CHECK(has(converted(model(g, 18)).header, "(nn::relu)"));
  const one_op pad(node("Pad", {"x", "pads", "", "axes"}, {"y"}), {integers({1, 2}, "pads"), integers({-1}, "axes")});
  CHECK(has(pad.header(18), "nn::pad<lv::pad_mode::constant, 0, 0, 1, 0, 0, 2>()"));
  one_op split(node("Split", {"x"}, {"y", "z", "t"}, {attribute("axis", 2), attribute("num_outputs", 3)}), {});
  split.g.inputs = {value("x", {1, 2, 5, 4})};
  split.g.outputs = {value("y", {}), value("t", {})};
  CHECK(has(split.header(18), "nn::slice<lv::along<1, 0, 2>>"));
  CHECK(has(split.header(18), "nn::slice<lv::along<1, 4, 5>>"));
}

TEST_CASE("opset 18: Resize of some axes, and its new ways") {
  const one_op some(node("Resize", {"x", "", "", "sizes"}, {"y"}, {attribute("axes", {2, 3})}),
                    {integers({8, 6}, "sizes")});
  CHECK(has(some.header(18), "lv::image::resize_by<8, 6, lv::layout::chw"));
  const one_op kept(node("Resize", {"x", "", "", "sizes"}, {"y"},
                         {attribute("axes", {2, 3}), text_attribute("keep_aspect_ratio_policy", "not_larger")}),
                    {integers({8, 6}, "sizes")});
  CHECK(has(kept.header(18), "lv::image::resize_by<6, 6, lv::layout::chw"));
  const one_op symmetric(
      node("Resize", {"x", "", "", "sizes"}, {"y"},
           {attribute("axes", {2, 3}), text_attribute("coordinate_transformation_mode", "half_pixel_symmetric")}),
      {integers({8, 6}, "sizes")});
  CHECK(
      has(symmetric.refused(19), "its coordinate_transformation_mode is \"half_pixel_symmetric\", which levada lacks"));
  const one_op smoothed(
      node("Resize", {"x", "", "", "sizes"}, {"y"}, {attribute("axes", {2, 3}), attribute("antialias", 1)}),
      {integers({2, 2}, "sizes")});
  CHECK(has(smoothed.refused(18), "antialias is not supported"));
}

TEST_CASE("opset 18 and 21: groups are scaled each, then each channel") {
  graph_text g;
  g.inputs = {value("x", {1, 4, 3})};
  g.outputs = {value("y", {})};
  g.nodes = {node("GroupNormalization", {"x", "scale", "bias"}, {"y"}, {attribute("num_groups", 2)})};
  g.initializers = {floats({2}, {1, 2}, "scale"), floats({2}, {3, 4}, "bias")};
  const converted by_group(model(g, 18));
  g.initializers = {floats({4}, {1, 1, 2, 2}, "scale"), floats({4}, {3, 3, 4, 4}, "bias")};
  const converted by_channel(model(g, 21));
  REQUIRE(by_group.weights.size() == by_channel.weights.size());
  for (const auto& [name, known] : by_group.weights)
    CHECK(known.as<double>() == by_channel.weights.at(name).as<double>());
}

TEST_CASE("opset 19 to 21: types and blocks of integers") {
  const one_op quantized(node("QuantizeLinear", {"x", "scale"}, {"y"}, {attribute("output_dtype", 3)}),
                         {floats({}, {0.5f}, "scale")});
  CHECK(has(quantized.header(21), "nn::quantize_linear<std::int8_t>({0.5f, 0})"));
  const one_op blocks(
      node("DequantizeLinear", {"x", "scale"}, {"y"}, {attribute("axis", 3), attribute("block_size", 2)}),
      {floats({1, 2, 4, 2}, std::vector<float>(16, 1), "scale")}, onnx::element::i8);
  CHECK(has(blocks.refused(21), "its scales are neither one nor one of each index of its axis"));
  const one_op narrow(node("Cast", {"x"}, {"y"}, {attribute("to", 17)}), {});
  CHECK(has(narrow.refused(19), "it casts to a type that levada lacks"));
}

TEST_CASE("opset 20 to 24: new ops, and those that are refused") {
  CHECK(
      has(one_op(node("Gelu", {"x"}, {"y"}, {text_attribute("approximate", "tanh")}), {}).header(20), "nn::gelu_tanh"));
  CHECK(has(one_op(node("IsInf", {"x"}, {"y"}, {attribute("detect_negative", 0)}), {}).header(20),
            "nn::is_inf(false, true)"));
  CHECK(has(one_op(node("Swish", {"x"}, {"y"}), {}).refused(24), "unsupported op Swish, 1 time: \"y\""));
  CHECK(has(one_op(node("RotaryEmbedding", {"x", "x", "x"}, {"y"}), {}).refused(23), "unsupported op RotaryEmbedding"));
  CHECK(has(one_op(node("Div", {"x"}, {"y"}), {}).refused(24), "it takes two inputs"));
  CHECK(one_op(node("Relu", {"x"}, {"y"}), {}).refused(24).empty());
  CHECK(one_op(node("Relu", {"x"}, {"y"}), {}).refused(25) ==
        "the model is of opset 25; 24 is the newest that is known");
}

TEST_CASE("before opset 7 an axis of broadcasting is refused where it means another one") {
  const one_op first(node("Add", {"x", "b"}, {"y"}, {attribute("broadcast", 1), attribute("axis", 2)}),
                     {floats({4}, {1, 2, 3, 4}, "b")});
  CHECK(has(first.refused(6), "its axis of broadcasting is one of opsets below 7"));
  const one_op last(node("Add", {"x", "b"}, {"y"}, {attribute("broadcast", 1), attribute("axis", 3)}),
                    {floats({4}, {1, 2, 3, 4}, "b")});
  CHECK(last.refused(6).empty());
}

}  // namespace onnx_tool_opsets
