// SPDX-License-Identifier: Apache-2.0
// The reader of onnx_to_levada: whatever is in a file is a model, or an error with the place of the byte.

#include <filesystem>
#include <fstream>
#include <random>

#include <doctest/doctest.h>

#include "../fuzz/mutate.hpp"
#include "../fuzz/onnx_model_property.hpp"
#include "converted.hpp"
#include "model_writer.hpp"

namespace onnx_tool_reader {

using namespace levada_test;
namespace onnx = levada::onnx;

/// A small model of all that files have: weights, attributes of each kind, a branch, a function.
std::string small_model() {
  graph_text branch;
  branch.nodes = {node("Relu", {"y"}, {"b"})};
  branch.outputs = {value("b", {1, 4})};
  graph_text other;
  other.nodes = {node("Neg", {"y"}, {"b"})};
  other.outputs = {value("b", {1, 4})};
  graph_text g;
  g.inputs = {value("x", {-1, 3})};
  g.outputs = {value("z", {1, 4})};
  g.initializers = {floats({3, 4}, std::vector<float>(12, 0.5f), "w"),
                    tensor(onnx::element::boolean, {}, std::vector<char>{1}, "c")};
  g.nodes = {node("MatMul", {"x", "w"}, {"y"}),
             node("If", {"c"}, {"t"},
                  {graph_attribute("then_branch", branch.written()), graph_attribute("else_branch", other.written())}),
             node("twice", {"t"}, {"u"}, {}, "call", "own"), node("Softmax", {"u"}, {"z"}, {attribute("axis", -1)})};
  const message function = message()
                               .block(1, std::string_view("twice"))
                               .block(4, std::string_view("a"))
                               .block(5, std::string_view("b"))
                               .block(7, node("Add", {"a", "a"}, {"b"}))
                               .block(9, message().number(2, 17))
                               .block(10, std::string_view("own"));
  return model(g, 17, {function});
}

TEST_CASE("every truncation of a model is an error with the offset of a byte, or a model") {
  const std::string whole = small_model();
  REQUIRE(converts_model(whole) == model_outcome::converted);
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const std::string part = whole.substr(0, size);
    const std::string text = refusal([&] { onnx::read_model(part, {}); });
    CHECK((text.empty() || text.starts_with("byte ")));
    if (!text.empty()) CHECK(std::stoul(text.substr(5)) <= size);
    refused += !text.empty();
    CHECK_NOTHROW(converts_model(part));
  }
  CHECK(refused > static_cast<int>(whole.size() * 9 / 10));
}

TEST_CASE("a model whose bits are changed is converted or refused") {
  const std::string whole = small_model();
  int refused = 0, converted = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    CAPTURE(bit);
    model_outcome outcome{};
    REQUIRE_NOTHROW(outcome = converts_model(changed));
    ++(outcome == model_outcome::converted ? converted : refused);
  }
  CHECK(refused > 100);
  CHECK(converted > 100);
  constexpr std::string_view tokens[] = {"\xff\xff\xff\xff\x0f", "\x08", "\x12", "Reshape", "Loop", "x", "w"};
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::string changed = mutated(whole, tokens, random);
    CAPTURE(changed);
    REQUIRE_NOTHROW(converts_model(changed));
  }
}

TEST_CASE("what is wrong in a file is said with its byte") {
  const auto refused = [](const std::string& bytes) { return refusal([&] { onnx::read_model(bytes, {}); }); };
  CHECK(refused("") == "byte 0: the file has no graph");
  CHECK(refused("no model at all").starts_with("byte 0: this is no ONNX model"));
  graph_text g;
  g.outputs = {value("x", {1})};
  g.initializers = {floats({3}, {1, 2}, "w")};
  CHECK(refused(model(g)).ends_with("a tensor of 12 bytes has 8"));
  g.initializers = {message().number(1, -3).number(2, 1)};
  CHECK(refused(model(g)).ends_with("a tensor has the extent -3"));
  g.initializers = {tensor(static_cast<onnx::element>(17), {1}, std::vector<char>(1), "w")};
  CHECK(refused(model(g)).ends_with("a tensor has elements of type 17, which levada lacks"));
  // A number where a text is, as field 2 of a graph.
  CHECK(refused(message().block(7, message().number(2, 5)).bytes)
            .ends_with("this is no ONNX model: a field has another type than ONNX gives it"));
  // Graphs in graphs without end.
  message deep = node("If", {"c"}, {"y"});
  for (int i = 0; i < 80; ++i) {
    graph_text in;
    in.nodes = {deep};
    deep = node("If", {"c"}, {"y"}, {graph_attribute("then_branch", in.written())});
  }
  g = {};
  g.nodes = {deep};
  CHECK(refused(model(g)).ends_with("graphs stand in each other too deep"));
}

TEST_CASE("external data are read from the model's folder and below it alone") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "levada_onnx_tool_reader", models = folder / "models";
  fs::create_directories(models / "below");
  const std::vector<float> numbers{1, 2, 3, 4};
  for (const fs::path& file : {folder / "outside.bin", models / "below" / "weights.bin"})
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(numbers.data()), 16);
  std::error_code failed;
  fs::create_symlink(folder / "outside.bin", models / "link.bin", failed);
  const auto with = [&](std::string_view location, std::string_view offset, std::string_view length) {
    message t = message().number(1, 2).number(2, 1).block(8, std::string_view("w")).number(14, 1);
    for (const auto& [key, text] :
         {std::pair<std::string_view, std::string_view>{"location", location}, {"offset", offset}, {"length", length}})
      t.block(13, message().block(1, key).block(2, text));
    graph_text g;
    g.inputs = {value("x", {2})};
    g.outputs = {value("y", {2})};
    g.initializers = {t};
    g.nodes = {node("Add", {"x", "w"}, {"y"})};
    return model(g);
  };
  const auto refused = [&](const std::string& bytes) { return refusal([&] { onnx::read_model(bytes, models); }); };
  const onnx::model_def read = onnx::read_model(with("below/weights.bin", "8", "8"), models);
  CHECK(read.graph.initializers.at(0).second.as<double>() == std::vector<double>{3, 4});
  CHECK(
      refused(with("below/weights.bin", "12", "8")).ends_with("external data end behind the end of below/weights.bin"));
  CHECK(refused(with("below/weights.bin", "0", "12")).ends_with("external data of 8 bytes have 12"));
  CHECK(refused(with("below/weights.bin", "-1", "8")).ends_with("external data have the offset \"-1\""));
  for (const std::string& location : {std::string("../outside.bin"), (folder / "outside.bin").string(),
                                      std::string("below/../../outside.bin"), std::string("link.bin"), std::string()}) {
    CAPTURE(location);
    CHECK(refused(with(location, "0", "8"))
              .ends_with("external data lie in \"" + location + "\", which is not below the model's folder"));
  }
  CHECK(refusal([&] { onnx::read_model(with("below/weights.bin", "0", "8"), {}); }).find("not below") !=
        std::string::npos);
  fs::remove_all(folder);
}

}  // namespace onnx_tool_reader
