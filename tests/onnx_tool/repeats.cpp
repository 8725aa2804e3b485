// SPDX-License-Identifier: Apache-2.0
// Equal blocks of a model become one function of its header, by the text that is written.

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "converted.hpp"
#include "model_writer.hpp"

namespace onnx_tool_repeats {

using namespace levada_test;

std::string in_block(int block, std::string_view name) {
  std::string all = "b" + std::to_string(block);
  return all += name;
}

/// Blocks of seven ops, the last of which is taken by the next block. `change` may write another node.
template <class Change>
std::string blocks_in_a_row(int count, Change change) {
  graph_text g;
  g.inputs = {value("x", {4, 8}), value("side", {4, 8})};
  std::string before = "x";
  for (int b = 0; b < count; ++b) {
    const auto name = [&](std::string_view n) { return in_block(b, n); };
    g.initializers.push_back(floats({8, 8}, std::vector<float>(64, static_cast<float>(b)), name("w")));
    const auto add = [&](std::string_view op, std::vector<std::string> from, const std::string& out) {
      change(b, op, from);
      g.nodes.push_back(node(op, {from.begin(), from.end()}, {out}, {}, name("/") + std::string(op)));
    };
    add("MatMul", {before, name("w")}, name("up"));
    add("Sigmoid", {name("up")}, name("gate"));
    add("Tanh", {name("up")}, name("value"));
    add("Mul", {name("gate"), name("value")}, name("gated"));
    add("Sub", {name("gated"), "side"}, name("aside"));
    add("Relu", {name("aside")}, name("kept"));
    add("Add", {before, name("kept")}, name("y"));
    before = name("y");
  }
  g.outputs = {value(before, {4, 8})};
  return model(g);
}
std::string blocks_in_a_row(int count) {
  return blocks_in_a_row(count, [](int, std::string_view, const std::vector<std::string>&) {});
}
std::size_t count_of(const converted& in, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = in.header.find(text); at != std::string::npos; at = in.header.find(text, at + 1)) ++count;
  return count;
}

TEST_CASE("equal blocks are a function, called with the begin of the names of their parameters") {
  const converted c(blocks_in_a_row(8));
  CHECK(c.has("template <lv::fixed_string Block, lv::parameter_source Weights>\nauto b_block(const Weights& w) {"));
  CHECK(c.has("stands in the model 8 times"));
  CHECK(c.has("lv::port<\"x0\", lv::tensor<float, 4, 8>>,\n      lv::port<\"x1\", lv::tensor<float, 4, 8>>,"));
  CHECK(c.has("<Block + \"_MatMul\""));
  CHECK(c.has("lv::output<\"y\", \"Add\">);\n}"));
  CHECK(count_of(c, "(b_block<\"b") == 8);
  CHECK(
      c.has("      // MatMul b1/MatMul to Add b1/Add\n"
            "      lv::node<\"b1_Add\", \"b0_Add\", \"side\">(b_block<\"b1\">(w)),"));
  CHECK(count_of(c, "nn::relu") == 1);
  // The file of weights is as without the function.
  CHECK(c.weights.size() == 8);
  CHECK(c.weights.at("b5_MatMul.weight").as<double>()[0] == 5);
  CHECK(converted(blocks_in_a_row(8)).header == c.header);
}

TEST_CASE("few blocks stay as they are") {
  const converted c(blocks_in_a_row(3));
  CHECK(!c.has("Block"));
  CHECK(count_of(c, "nn::relu") == 3);
}

TEST_CASE("a block with another op stands between two rows of equal ones") {
  const converted c(blocks_in_a_row(17, [](int b, std::string_view& op, const std::vector<std::string>&) {
    if (b == 8 && op == "Relu") op = "Neg";
  }));
  CHECK(c.has("auto b_block(const Weights& w)"));
  CHECK(c.has("auto b_block_2(const Weights& w)"));
  CHECK(count_of(c, "(b_block<\"b") == 8);
  CHECK(count_of(c, "(b_block_2<\"b") == 8);
  CHECK(c.has("nn::matmul_parameter<\"b8_MatMul\"") != c.has("nn::dense<\"b8_MatMul\""));
}

TEST_CASE("a block of which two values are taken is none") {
  const converted c(blocks_in_a_row(8, [](int b, std::string_view op, std::vector<std::string>& from) {
    if (b > 0 && op == "Sub") from[1] = in_block(b - 1, "gated");
  }));
  CHECK(!c.has("Block"));
}

TEST_CASE("values from places that differ are no equal blocks") {
  // Each second block takes its own value where the others take that from beside.
  const converted c(blocks_in_a_row(8, [](int b, std::string_view op, std::vector<std::string>& from) {
    if (b % 2 == 1 && op == "Sub") from[1] = in_block(b, "up");
  }));
  CHECK(!c.has("Block"));  // pairs of them would be, but their names begin with nothing
}

}  // namespace onnx_tool_repeats
