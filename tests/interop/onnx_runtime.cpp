// SPDX-License-Identifier: Apache-2.0
// A part of a model that ONNX Runtime computes, between stages of ours.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <levada/backend/reference/detail/activation.hpp>
#include <levada/graph/parameter_map.hpp>
#include <levada/interop/onnx_runtime.hpp>
#include <levada/nn/activation.hpp>
#include <levada/run/deploy.hpp>
#include <levada/run/detail/workers/tbb_executor.hpp>

namespace interop_onnx_runtime {

namespace lv = levada;

/// A protobuf message being written.
struct message {
  std::string bytes;
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes += static_cast<char>(v | 0x80);
    bytes += static_cast<char>(v);
  }
  message& number(unsigned field, std::uint64_t v) { return varint(field << 3), varint(v), *this; }
  message& text(unsigned field, std::string_view v) {
    varint(field << 3 | 2), varint(v.size());
    bytes += v;
    return *this;
  }
  message& put(unsigned field, const message& m) { return text(field, m.bytes); }
};

/// "y" = a chain of ops of one input from "x", of 1x2x3 floats; each op named adds its own output.
std::string model_of(std::initializer_list<std::string_view> ops, std::size_t rows = 2, std::uint64_t element = 1) {
  message graph, shape;
  std::string from = "x";
  std::size_t i = 0;
  for (const std::string_view op : ops) {
    const std::string to = ++i == ops.size() ? "y" : "v" + std::to_string(i);
    graph.put(1, message().text(1, from).text(2, to).text(3, to).text(4, op));
    from = to;
  }
  for (const std::uint64_t extent : {std::uint64_t{1}, std::uint64_t{rows}, std::uint64_t{3}})
    shape.put(1, message().number(1, extent));
  const message tensor = message().put(1, message().number(1, element).put(2, shape));
  graph.text(2, "chain").put(11, message().text(1, "x").put(2, tensor)).put(12, message().text(1, "y").put(2, tensor));
  return message().number(1, 8).put(7, graph).put(8, message().text(1, "").number(2, 17)).bytes;
}

using matrix = lv::tensor<float, 2, 3>;

TEST_CASE("ONNX Runtime computes a stage, reading and writing where the items lie") {
  const lv::onnx_runtime_model model(model_of({"Relu", "Neg"}));
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<lv::reference>>(
      lv::input<matrix> | lv::nn::relu | lv::onnx_runtime_stage<"middle", matrix, matrix>(model) |
      lv::stage<"sum">([](const matrix& m) {
        float sum = 0;
        for (const float v : m) sum += v;
        return sum;
      }));
  static_assert(decltype(app)::plan.unit[1].order == lv::concurrency::parallel);
  std::vector<matrix> items(200);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t k = 0; k < 6; ++k) items[i].data()[k] = static_cast<float>(i) + static_cast<float>(k) - 100;
  std::size_t i = 0;
  for (auto&& r : app.stream(items)) {
    float expected = 0;
    for (const float v : items[i++]) expected -= v < 0 ? 0 : v;
    CHECK(r.value() == expected);
  }
  CHECK(i == items.size());

  matrix in, out;
  in.fill(-2);
  out.fill(7);
  model.run(in, out);
  CHECK(out[5] == 0);
  CHECK(in[0] == -2);
}

TEST_CASE("numbers of half precision and truth values are read and written as they lie") {
  constexpr std::uint64_t onnx_bool = 9, onnx_float16 = 10;
  using halves = lv::tensor<lv::half, 2, 3>;
  halves in, out;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = lv::half(static_cast<float>(i) - 2.5f);
  lv::onnx_runtime_model(model_of({"Neg"}, 2, onnx_float16)).run(in, out);
  for (std::size_t i = 0; i < in.size(); ++i) CHECK(static_cast<float>(out[i]) == 2.5f - static_cast<float>(i));

  using truths = lv::tensor<bool, 2, 3>;
  truths given, taken;
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = i % 3 == 0;
  lv::onnx_runtime_model(model_of({"Not"}, 2, onnx_bool)).run(given, taken);
  for (std::size_t i = 0; i < given.size(); ++i) CHECK(taken[i] == (i % 3 != 0));
}

/// "d" = "a" - "b" and "s" = "a" + "b", of rows of three.
std::string model_of_two() {
  const message shape = message().put(1, message().number(1, 3));
  const message row = message().put(1, message().number(1, 1).put(2, shape));
  const auto node = [](std::string_view op, std::string_view to) {
    return message().text(1, "a").text(1, "b").text(2, to).text(3, to).text(4, op);
  };
  const auto port = [&](std::string_view name) { return message().text(1, name).put(2, row); };
  message graph;
  graph.put(1, node("Sub", "d")).put(1, node("Add", "s")).text(2, "two").put(11, port("a")).put(11, port("b"));
  graph.put(12, port("d")).put(12, port("s"));
  return message().number(1, 8).put(7, graph).put(8, message().text(1, "").number(2, 17)).bytes;
}

TEST_CASE("a model of several inputs joins branches, and gives a tuple of its outputs") {
  using row = lv::tensor<float, 3>;
  using two = std::tuple<row, row>;
  const lv::onnx_runtime_model model(model_of_two());
  const auto app = lv::deploy<lv::target<lv::cpu<2>>, lv::backends<lv::reference>>(
      lv::input<row> | lv::fork(lv::nn::relu, lv::identity) | lv::onnx_runtime_stage<"both", two, two>(model) |
      lv::stage<"product">([](const two& both) { return std::get<0>(both)[1] * std::get<1>(both)[1]; }));
  CHECK(app(row{0, -3, 0}) == -9);  // (0 + 3) (0 - 3)
  CHECK(app(row{0, 2, 0}) == 0);
  CHECK_THROWS_WITH_AS((lv::onnx_runtime_stage<"one", row, two>(model)),
                       "levada: stage \"one\": the model has 2 inputs, the stage 1", lv::error);
  CHECK_THROWS_WITH_AS((lv::onnx_runtime_stage<"three", two, std::tuple<row, row, row>>(model)),
                       "levada: stage \"three\": the model has 2 outputs, the stage 3", lv::error);
}

TEST_CASE("what a model does not take is an error that names the stage") {
  const lv::onnx_runtime_model model(model_of({"Relu"}));
  using other = lv::tensor<float, 3, 2>;
  CHECK_THROWS_WITH_AS(
      (lv::onnx_runtime_stage<"other", other, matrix>(model)),
      "levada: stage \"other\": the model's input \"x\" is another tensor: element type 1 of ONNX, 1x2x3", lv::error);
  CHECK_THROWS_WITH_AS((lv::onnx_runtime_stage<"bytes", matrix, lv::tensor<std::uint8_t, 2, 3>>(model)),
                       doctest::Contains("the model's output \"y\" is another tensor"), lv::error);
  CHECK_THROWS_WITH_AS(lv::onnx_runtime_model(lv::parameter_map(), "tail.model"),
                       "levada: ONNX Runtime: the weights have no model \"tail.model\"", lv::error);
  CHECK_THROWS_WITH_AS(lv::onnx_runtime_model("no model at all"), doctest::Contains("levada: ONNX Runtime: "),
                       lv::error);
  CHECK_THROWS_WITH_AS(lv::onnx_runtime_model(model_of({"NoSuchOp"})), doctest::Contains("NoSuchOp"), lv::error);
}

}  // namespace interop_onnx_runtime
