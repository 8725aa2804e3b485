// SPDX-License-Identifier: Apache-2.0
// Several extents of a model: which graphs they are, and their weights in one file.

#include <doctest/doctest.h>

#include "converted.hpp"
#include "model_writer.hpp"
#include "network/alternatives.hpp"
#include "output/shared_weights.hpp"

namespace onnx_tool_alternatives {

using namespace levada_test;
namespace onnx = levada::onnx;
using strings = std::vector<std::string>;

strings spaces_of(const strings& texts) {
  strings spaces;
  for (const onnx::alternative& one : onnx::alternatives_of(texts)) spaces.push_back(one.space);
  return spaces;
}

TEST_CASE("each extent of an axis stands with each of the others") {
  CHECK(spaces_of({}) == strings{""});
  CHECK(spaces_of({"batch=1", "W=160"}) == strings{""});
  CHECK(spaces_of({"batch=1", "W=160|320"}) == strings{"w160", "w320"});
  CHECK(spaces_of({"H=1|2", "W=3|4"}) == strings{"h1_w3", "h1_w4", "h2_w3", "h2_w4"});
  CHECK(spaces_of({"x.2=1|2"}) == strings{"x_2_1", "x_2_2"});
  CHECK(spaces_of({"x=1,3,8|1x3x9"}) == strings{"x_1x3x8", "x_1x3x9"});
  const std::vector<onnx::alternative> all = onnx::alternatives_of({"batch=1", "W=160|320"});
  CHECK(all[1].said == "W=320");
  CHECK(all[1].dims.at("batch") == onnx::extents{1});
  CHECK(all[1].dims.at("W") == onnx::extents{320});
}

TEST_CASE("extents that are no numbers, the same twice, and too many graphs are refused") {
  const auto refused = [](const strings& texts) { return refusal([&] { onnx::alternatives_of(texts); }); };
  CHECK(refused({"W=160|"}) == "\"\" of \"\" is no number");
  CHECK(refused({"W=160|wide"}) == "\"wide\" of \"wide\" is no number");
  CHECK(refused({"W"}) == "\"W\" is no NAME=VALUE");
  CHECK(refused({"W=160|160"}) == "\"W=160|160\" gives two graphs with the name w160");
  CHECK(refused({"a=1|2|3|4", "b=1|2|3|4", "c=1|2|3|4|5"}) == "--dims give more than 64 graphs");
}

/// A product, and in a branch another by numbers that follow from the number of rows.
std::string with_branch() {
  const auto branch = [](std::string_view op) {
    graph_text g;
    g.nodes = {node("Shape", {"p"}, {"s"}), node("ConstantOfShape", {"s"}, {"n"}, {}, "numbers"),
               node("Add", {"p", "n"}, {"a"}, {}, "sum"), node(op, {"a"}, {"b"})};
    g.outputs = {value("b", {})};
    return g.written();
  };
  graph_text g;
  g.inputs = {value("x", {-1, 4}), value("flag", {}, onnx::element::boolean)};
  g.initializers = {floats({4, 4}, std::vector<float>(16, 1), "w")};
  g.nodes = {
      node("MatMul", {"x", "w"}, {"p"}, {}, "product"),
      node("If", {"flag"}, {"y"},
           {graph_attribute("then_branch", branch("Relu")), graph_attribute("else_branch", branch("Neg"))}, "choice")};
  g.outputs = {value("y", {})};
  return model(g);
}

TEST_CASE("weights that differ have names of their own, those of branches too") {
  std::vector<onnx::network> nets;
  for (const std::int64_t rows : {2, 3}) {
    onnx::elaboration_options options;
    options.dims["free"] = {rows};
    nets.push_back(elaborated(with_branch(), options));
    onnx::simplify(nets.back());
  }
  onnx::lowering two(nets[0]), three(nets[1]);
  two.run();
  three.run();
  const std::map<std::string, onnx::constant> weights = onnx::share_weights({{"w2", &two}, {"w3", &three}});
  strings names;
  for (const auto& [name, known] : weights) names.push_back(name);
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  CHECK(has("product.weight"));
  CHECK(names.size() == 5);
  const onnx::fused_graph of_two = onnx::fuse(two), of_three = onnx::fuse(three);
  const std::string header =
      onnx::write_header({{"w2", two, of_two, nets[0]}, {"w3", three, of_three, nets[1]}}, weights, of_m);
  for (const std::string& name : names) {
    const std::string quoted = "<\"" + name.substr(0, name.rfind('.')) + "\"";
    CHECK_MESSAGE(header.find(quoted) != std::string::npos, quoted);
  }
  CHECK(header.find("structure = \"" + onnx::structure_hash(weights) + "\"") != std::string::npos);
}

}  // namespace onnx_tool_alternatives
