// SPDX-License-Identifier: Apache-2.0
// The table of ops, and ops whose sentences and shapes the suite does not show.

#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"
#include "ops/op_definition.hpp"
#include "output/listing.hpp"

namespace onnx_tool_ops {

using namespace levada_test;
namespace onnx = levada::onnx;

TEST_CASE("docs/onnx_ops.md is what --list-ops prints") {
  std::ifstream file(LEVADA_SOURCE_DIR "/docs/onnx_ops.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK(text == onnx::table_of_ops());
}

TEST_CASE("a Dropout that drops is refused, one that does not is nothing") {
  graph_text g;
  g.inputs = {value("x", {1, 4})};
  g.outputs = {value("y", {1, 4})};
  g.initializers = {floats({}, {0.5f}, "ratio"), tensor(onnx::element::boolean, {}, std::vector<char>{1}, "training")};
  g.nodes = {node("Dropout", {"x", "ratio", "training"}, {"d"}), node("Relu", {"d"}, {"y"})};
  CHECK(refusal([&] { converted(model(g)); }) == "Dropout \"d\": it is in training mode: it draws numbers");
  g.initializers[1] = tensor(onnx::element::boolean, {}, std::vector<char>{0}, "training");
  CHECK(ops_of(elaborated(model(g))) == std::vector<std::string>{"Relu"});
}

TEST_CASE("an output that is an input, and one that is a constant") {
  graph_text g;
  g.inputs = {value("x", {1, 4})};
  g.outputs = {value("y", {1, 4})};
  g.nodes = {node("Identity", {"x"}, {"y"})};
  CHECK(converted(model(g)).has("lv::output<\"y\""));
  g.nodes = {node("Shape", {"x"}, {"y"})};
  CHECK(refusal([&] { converted(model(g)); }) == "output \"y\" is a constant");
}

TEST_CASE("scales of an axis are parameters") {
  graph_text g;
  g.inputs = {value("x", {1, 2, 3}, onnx::element::i8)};
  g.outputs = {value("y", {})};
  g.initializers = {floats({2}, {1, 2}, "scale"), tensor(onnx::element::i8, {2}, std::vector<char>{0, 1}, "zero")};
  g.nodes = {node("DequantizeLinear", {"x", "scale", "zero"}, {"y"}, {attribute("axis", 1)})};
  const converted c(model(g));
  CHECK(c.has("nn::dequantize_along<\"y\", 1>(w)"));
  CHECK(c.weights.at("y.zero_point").as<std::int64_t>() == std::vector<std::int64_t>{0, 1});
  g.initializers[0] = floats({3}, {1, 2, 3}, "scale");
  CHECK(refusal([&] { converted(model(g)); }).find("neither one nor one of each index") != std::string::npos);
}

TEST_CASE("at most 64 inputs, outputs and values of a node") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 65; ++i) names.push_back("x" + std::to_string(i));
  // Of the first inputs, joined once and once more.
  const auto of = [&](std::size_t inputs, std::size_t joined) {
    graph_text g;
    std::vector<std::string_view> from;
    for (std::size_t i = 0; i < inputs; ++i) g.inputs.push_back(value(names[i], {1, 2}));
    for (std::size_t i = 0; i < joined; ++i) from.push_back(names[i % inputs]);
    g.nodes = {node("Concat", from, {"y"}, {attribute("axis", 1)})};
    g.outputs = {value("y", {})};
    return g;
  };
  CHECK(converted(model(of(64, 64))).has("nn::concat<0>"));
  CHECK(refusal([&] { converted(model(of(65, 65))); }) == "it has 65 inputs, of which a graph has at most 64");
  const converted joined(model(of(40, 80)));
  CHECK(joined.header.find("nn::concat<0>") != joined.header.rfind("nn::concat<0>"));
}

TEST_CASE("what leaves by two names is an output each") {
  graph_text g;
  g.inputs = {value("x", {1, 2})};
  g.nodes = {node("Relu", {"x"}, {"y"}), node("Identity", {"y"}, {"z"})};
  g.outputs = {value("y", {}), value("z", {})};
  const converted c(model(g));
  CHECK(c.has("lv::output<\"y\", \"y\">"));
  CHECK(c.has("lv::output<\"z\", \"z\">"));
}

TEST_CASE("integers are raised as integers, folded or not") {
  using onnx::element;
  graph_text g;
  g.inputs = {value("x", {1, 2}, element::i64)};
  g.outputs = {value("y", {})};
  g.initializers = {integers({39, 3}, "k"), integers({3, -1}, "base"), integers({-5, 2}, "z")};
  g.nodes = {node("Pow", {"x", "k"}, {"y"})};
  CHECK(converted(model(g)).has("nn::pow"));
  CHECK_FALSE(converted(model(g)).has("nn::cast"));
  // 3 to the power of 39 has more bits than a double; of 40 more than an int64, less 2^64.
  g.nodes = {node("Pow", {"base", "k"}, {"p"}), node("Add", {"x", "p"}, {"y"})};
  CHECK(converted(model(g)).weights.at("p.value").as<std::int64_t>() ==
        std::vector<std::int64_t>{4052555153018976267, -1});
  g.nodes = {node("Mul", {"p", "base"}, {"q"}), node("Pow", {"base", "k"}, {"p"}), node("Add", {"x", "q"}, {"y"})};
  std::swap(g.nodes[0], g.nodes[1]);
  CHECK(converted(model(g)).weights.at("q.value").as<std::int64_t>() ==
        std::vector<std::int64_t>{-6289078614652622815, 1});
  // The smallest by -1 is itself.
  g.initializers.push_back(integers({std::numeric_limits<std::int64_t>::min()}, "least"));
  g.initializers.push_back(integers({-1}, "minus"));
  g.nodes = {node("Div", {"least", "minus"}, {"d"}), node("Add", {"x", "d"}, {"y"})};
  CHECK(converted(model(g)).weights.at("d.value").as<std::int64_t>()[0] == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("integers are raised by floating numbers as double") {
  using onnx::element;
  graph_text g;
  g.inputs = {value("x", {1, 2}, element::i64)};
  g.outputs = {value("y", {})};
  g.initializers = {integers({9, 3}, "base"), floats({2}, {0.5f, -1}, "k")};
  g.nodes = {node("Pow", {"base", "k"}, {"p"}), node("Add", {"x", "p"}, {"y"})};
  CHECK(converted(model(g)).weights.at("p.value").as<std::int64_t>() == std::vector<std::int64_t>{3, 0});
  g.nodes = {node("Pow", {"x", "k"}, {"y"})};
  CHECK(converted(model(g)).has("nn::pow | nn::cast<std::int64_t>"));  // which cuts fractions off, as ONNX does
}

TEST_CASE("what is not zero is true, folded, too") {
  graph_text g;
  g.inputs = {value("x", {1, 4})};
  g.outputs = {value("y", {})};
  g.initializers = {floats({1, 4}, {0.5f, -0.0f, std::numeric_limits<float>::quiet_NaN(), -2}, "k"),
                    floats({}, {0}, "zero")};
  g.nodes = {node("Cast", {"k"}, {"c"}, {attribute("to", 9)}), node("Where", {"c", "x", "zero"}, {"y"})};
  CHECK(converted(model(g)).weights.at("c.value").as<std::int64_t>() == std::vector<std::int64_t>{1, 0, 1, 1});
}

TEST_CASE("the first output may be left out") {
  const auto listed = [](const graph_text& g) {
    onnx::network net = simplified(g);
    onnx::lowering lowered(net);
    lowered.run();
    return onnx::listing_text({}, lowered, onnx::fuse(lowered), net);
  };
  graph_text g;
  g.inputs = {value("x", {6, 1, 3})};
  g.outputs = {value("y", {})};
  for (const auto& [op, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
    const auto rows = static_cast<std::size_t>(2 * gates);
    g.initializers = {floats({1, 2 * gates, 3}, std::vector<float>(rows * 3, 1), "w"),
                      floats({1, 2 * gates, 2}, std::vector<float>(rows * 2, 1), "r"), floats({}, {2}, "two")};
    g.nodes = {node(op, {"x", "w", "r"}, {"", "h"}), node("Mul", {"h", "two"}, {"y"})};
    CHECK(listed(g).find(std::to_string(6 * rows * 5) + " multiply-adds an item") != std::string::npos);
  }
  g.nodes = {node("GRU", {"x", "w", "r"}, {"", "", "y"})};  // the cell state is one of an LSTM
  CHECK(refusal([&] { listed(g); }) == "GRU \"y\": it gives no output 2");
  g.inputs = {value("x", {1, 2, 3, 3})};
  g.initializers = {floats({2, 2, 1, 1}, {1, 2, 3, 4}, "w"), integers({1}, "one"), integers({1, 1}, "parts")};
  g.nodes = {node("Conv", {"x", "w"}, {"c"}), node("TopK", {"c", "one"}, {"", "y"})};
  CHECK(listed(g).find("TopK") != std::string::npos);
  g.nodes[1] = node("Split", {"c", "parts"}, {"", "y"}, {attribute("axis", 1)});
  CHECK(listed(g).find("Split") != std::string::npos);
}

TEST_CASE("outputs behind the first that nobody takes are left out") {
  graph_text g;
  g.inputs = {value("x", {1, 2, 4, 4})};
  g.outputs = {value("y", {})};
  g.nodes = {node("MaxPool", {"x"}, {"p", "places"}, {attribute("kernel_shape", {2, 2})}), node("Relu", {"p"}, {"y"})};
  CHECK(converted(model(g)).has("nn::max_pool2d"));
  onnx::elaboration_options options;
  options.to = {"places"};
  CHECK(refusal([&] { converted(model(g), options); }).find("are not given") != std::string::npos);
  g.nodes[1] = node("Cast", {"places"}, {"y"}, {attribute("to", 1)});
  CHECK(refusal([&] { converted(model(g)); }).find("are not given") != std::string::npos);
  // A branch takes what is around it.
  graph_text branch;
  branch.nodes = {node("Identity", {"places"}, {"b"})};
  branch.outputs = {value("b", {})};
  g.inputs.push_back(value("condition", {1}, onnx::element::boolean));
  g.nodes[1] =
      node("If", {"condition"}, {"y"},
           {graph_attribute("then_branch", branch.written()), graph_attribute("else_branch", branch.written())});
  CHECK(refusal([&] { converted(model(g)); }).find("are not given") != std::string::npos);
  g.inputs.pop_back();
  g.initializers = {floats({2}, {1, 1}, "ones"), floats({2}, {0, 0}, "zeros")};
  g.nodes = {node("BatchNormalization", {"x", "ones", "zeros", "zeros", "ones"}, {"y", "mean", "variance"})};
  CHECK(refusal([&] { converted(model(g)); }).find("it gives no output 1") != std::string::npos);
}

TEST_CASE("a matrix behind a picture takes its rows") {
  graph_text g;
  g.inputs = {value("x", {1, 2, 3, 3})};
  g.outputs = {value("y", {})};
  g.initializers = {floats({2, 2, 1, 1}, {1, 2, 3, 4}, "w"), floats({3, 4}, std::vector<float>(12, 1), "m"),
                    floats({4}, {1, 2, 3, 4}, "b"), integers({0}, "first")};
  g.nodes = {node("Conv", {"x", "w"}, {"c"}), node("Relu", {"c"}, {"r"}), node("Squeeze", {"r", "first"}, {"s"}),
             node("MatMul", {"s", "m"}, {"p"}), node("Add", {"p", "b"}, {"y"})};
  const converted c(model(g));
  CHECK(c.has("nn::reshape<6, 3>"));
  CHECK(c.has("nn::dense<\"p\", 4>(w) | nn::reshape<2, 3, 4>"));
  g.nodes = {node("Relu", {"x"}, {"r"}), node("MatMul", {"r", "m"}, {"y"})};  // levada knows of no picture
  CHECK_FALSE(converted(model(g)).has("nn::reshape"));
}

TEST_CASE("one axis of a picture is resized as a picture") {
  graph_text g;
  g.inputs = {value("x", {1, 2, 3, 4})};
  g.outputs = {value("y", {})};
  const auto resized = [&](const std::vector<float>& first, const std::vector<float>& then) {
    g.initializers = {floats({2, 2, 1, 1}, {1, 2, 3, 4}, "w"), floats({4}, first, "first"), floats({4}, then, "then")};
    g.nodes = {node("Resize", {"x", "", "first"}, {"r"}), node("Resize", {"r", "", "then"}, {"y"})};
    return converted(model(g));
  };
  CHECK(resized({1, 1, 2, 2}, {1, 1, 2, 1}).has("resize_by<12, 8, lv::layout::chw"));
  CHECK(resized({1, 1, 2, 2}, {1, 1, 1, 2}).has("resize_by<6, 16, lv::layout::chw"));
  CHECK(resized({1, 2, 2, 1}, {1, 2, 1, 1}).has("resize_by<1, 8, lv::layout::hwc"));
  CHECK(resized({1, 2, 2, 1}, {1, 1, 2, 1}).has("resize_by<4, 12, lv::layout::hwc"));
}

TEST_CASE("a triangle of one row has two axes") {
  graph_text g;
  g.inputs = {value("x", {1, 3})};
  g.outputs = {value("y", {})};
  g.nodes = {node("Trilu", {"x"}, {"y"})};
  CHECK(converted(model(g)).has("nn::reshape<1, 3> | nn::trilu<true, 0> | nn::reshape<3>"));
}

TEST_CASE("reductions of integers, but those of levada that are of floating numbers") {
  using onnx::element;
  graph_text g;
  g.outputs = {value("y", {})};
  const auto with = [&](std::string_view op, element type) {
    g.inputs = {value("x", {1, 4}, type)};
    g.nodes = {node(op, {"x"}, {"y"})};
    return model(g);
  };
  for (const element type : {element::i32, element::i64}) {
    CHECK(converted(with("ReduceSum", type)).has("nn::reduce_sum<0>"));
    CHECK(converted(with("ReduceMax", type)).has("nn::reduce_max<0>"));
    CHECK(converted(with("ReduceL1", type)).has("nn::reduce_l1<0>"));
  }
  const auto refused = [&](std::string_view op, element type) { return refusal([&] { converted(with(op, type)); }); };
  CHECK(refused("ReduceMean", element::i32) == "ReduceMean \"y\": levada has no nn::reduce_mean of int32");
  CHECK(refused("ReduceMax", element::boolean) == "ReduceMax \"y\": levada has no nn::reduce_max of bool");
}

TEST_CASE("products of matrices of integers: of 32 bits and more as they are, others in a sentence") {
  using onnx::element;
  graph_text g;
  g.inputs = {value("a", {2, 3}, element::i32), value("b", {3, 2}, element::i32)};
  g.outputs = {value("y", {})};
  g.nodes = {node("MatMul", {"a", "b"}, {"y"})};
  CHECK(converted(model(g)).has("nn::matmul)"));
  g.inputs = {value("a", {2, 3}, element::i8), value("b", {3, 2}, element::i8)};
  CHECK(refusal([&] { converted(model(g)); }).find("which do not hold its sums") != std::string::npos);
}

TEST_CASE("integers that a double does not hold are clipped and negated as they are") {
  using onnx::element;
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  graph_text g;
  g.inputs = {value("x", {1, 2}, element::i64)};
  g.outputs = {value("y", {})};
  g.initializers = {
      tensor(element::i64, {}, std::vector<std::int64_t>{-large}, "low"),
      tensor(element::i64, {}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}, "all"),
      integers({large, -2 * large}, "k")};
  g.nodes = {node("Clip", {"x", "low", "all"}, {"y"})};
  const converted c(model(g));
  CHECK(c.has("nn::at_least(-9007199254740993)"));
  CHECK_FALSE(c.has("at_most"));
  g.nodes = {node("Clip", {"k", "low", "all"}, {"a"}), node("Neg", {"a"}, {"b"}), node("Add", {"x", "b"}, {"y"})};
  CHECK(converted(model(g)).weights.at("b.value").as<std::int64_t>() == std::vector<std::int64_t>{-large, large});
}

}  // namespace onnx_tool_ops
