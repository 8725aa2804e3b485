// SPDX-License-Identifier: Apache-2.0
#pragma once
// fashion/onnx_model.hpp: the network as the bytes of an ONNX file, from the same weights. Field numbers are those of
// onnx.proto3 (IR version 8, opset 17).

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "model.hpp"

namespace fashion {

/// A protobuf message being written.
class protobuf {
 public:
  protobuf& number(unsigned field, std::int64_t value) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  protobuf& bytes(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  protobuf& message(unsigned field, const protobuf& value) { return bytes(field, value.bytes_); }

  const std::string& written() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

namespace onnx {

using names = std::initializer_list<std::string_view>;
using numbers = std::initializer_list<std::int64_t>;

inline protobuf attribute(std::string_view name, std::int64_t value) {
  constexpr int of_int = 2;
  return protobuf().bytes(1, name).number(3, value).number(20, of_int);
}
inline protobuf attribute(std::string_view name, numbers values) {
  constexpr int of_ints = 7;
  protobuf message;
  message.bytes(1, name);
  for (const std::int64_t value : values) message.number(8, value);
  return message.number(20, of_ints);
}

inline protobuf node(std::string_view op, names inputs, std::string_view output,
                     std::initializer_list<protobuf> attributes = {}) {
  protobuf message;
  for (const std::string_view input : inputs) message.bytes(1, input);
  message.bytes(2, output).bytes(3, output).bytes(4, op);
  for (const protobuf& a : attributes) message.message(5, a);
  return message;
}

constexpr int type_float = 1;

template <class Tensor>
protobuf initializer(std::string_view name, const Tensor& values) {
  protobuf message;
  for (const std::size_t extent : Tensor::extents) message.number(1, static_cast<std::int64_t>(extent));
  return message.number(2, type_float)
      .bytes(8, name)
      .bytes(9, {reinterpret_cast<const char*>(values.data()), sizeof(float) * Tensor::elements});
}

inline protobuf value_info(std::string_view name, numbers extents) {
  protobuf shape;
  for (const std::int64_t extent : extents) shape.message(1, protobuf().number(1, extent));
  const protobuf tensor = protobuf().number(1, type_float).message(2, shape);
  return protobuf().bytes(1, name).message(2, protobuf().message(1, tensor));
}

}  // namespace onnx

/// Input "pixels" 1x1x28x28, output "logits" 1x10.
inline std::string onnx_model() {
  using namespace onnx;
  const weights& w = the_weights();
  protobuf graph;
  const auto conv = [&](std::string_view input, std::string_view weight, std::string_view bias,
                        std::string_view output) {
    graph.message(1, node("Conv", {input, weight, bias}, output,
                          {attribute("kernel_shape", {5, 5}), attribute("pads", {2, 2, 2, 2})}));
  };
  const auto pool = [&](std::string_view input, std::string_view output, std::int64_t window) {
    graph.message(1, node("MaxPool", {input}, output,
                          {attribute("kernel_shape", {window, window}), attribute("strides", {window, window})}));
  };
  conv("pixels", "conv1.weight", "conv1.bias", "conv1");
  graph.message(1, node("Relu", {"conv1"}, "relu1"));
  pool("relu1", "pool1", 2);
  conv("pool1", "conv2.weight", "conv2.bias", "conv2");
  graph.message(1, node("Relu", {"conv2"}, "relu2"));
  pool("relu2", "pool2", 3);
  graph.message(1, node("Flatten", {"pool2"}, "flat", {attribute("axis", 1)}));
  graph.message(1, node("Gemm", {"flat", "dense.weight", "dense.bias"}, "logits", {attribute("transB", 1)}));
  graph.bytes(2, "fashion");
  graph.message(5, initializer("conv1.weight", w.conv1_weight)).message(5, initializer("conv1.bias", w.conv1_bias));
  graph.message(5, initializer("conv2.weight", w.conv2_weight)).message(5, initializer("conv2.bias", w.conv2_bias));
  graph.message(5, initializer("dense.weight", w.dense_weight)).message(5, initializer("dense.bias", w.dense_bias));
  graph.message(11, value_info("pixels", {1, 1, 28, 28})).message(12, value_info("logits", {1, 10}));

  const protobuf opset = protobuf().bytes(1, "").number(2, 17);
  return protobuf().number(1, 8).bytes(2, "levada").message(7, graph).message(8, opset).written();
}

}  // namespace fashion
