// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx_tool/model_writer.hpp: writes the .onnx files of tests: protobuf's fields, and the messages of ONNX by them.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/element.hpp"

namespace levada_test {

/// A message of protobuf, field by field.
struct message {
  std::string bytes;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
  message& number(std::uint64_t field, std::int64_t value) {
    varint(field << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  message& block(std::uint64_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  message& block(std::uint64_t field, const message& value) { return block(field, value.bytes); }
};

using dims = std::vector<std::int64_t>;

template <class T>
message tensor(levada::onnx::element type, const dims& extents, const std::vector<T>& elements,
               std::string_view name = "") {
  message m;
  for (const std::int64_t d : extents) m.number(1, d);
  m.number(2, static_cast<std::int64_t>(type));
  if (!name.empty()) m.block(8, name);
  return m.block(9, {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)});
}
inline message floats(const dims& extents, const std::vector<float>& elements, std::string_view name = "") {
  return tensor(levada::onnx::element::f32, extents, elements, name);
}
inline message integers(const std::vector<std::int64_t>& elements, std::string_view name = "") {
  return tensor(levada::onnx::element::i64, {static_cast<std::int64_t>(elements.size())}, elements, name);
}

inline message attribute(std::string_view name, std::int64_t value) {
  return message().block(1, name).number(3, value).number(20, 2);
}
inline message attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  message m = message().block(1, name);
  for (const std::int64_t value : values) m.number(8, value);
  return m.number(20, 7);
}
inline message tensor_attribute(std::string_view name, const message& value) {
  return message().block(1, name).block(5, value).number(20, 4);
}
inline message graph_attribute(std::string_view name, const message& value) {
  return message().block(1, name).block(6, value).number(20, 5);
}

inline message node(std::string_view op, const std::vector<std::string_view>& inputs,
                    std::initializer_list<std::string_view> outputs, std::initializer_list<message> attributes = {},
                    std::string_view name = "", std::string_view domain = "") {
  message m;
  for (const std::string_view input : inputs) m.block(1, input);
  for (const std::string_view output : outputs) m.block(2, output);
  if (!name.empty()) m.block(3, name);
  m.block(4, op);
  for (const message& a : attributes) m.block(5, a);
  if (!domain.empty()) m.block(7, domain);
  return m;
}

/// What a graph takes or gives. An extent of -1 is free and is called "free".
inline message value(std::string_view name, const dims& extents,
                     levada::onnx::element type = levada::onnx::element::f32) {
  message shape;
  for (const std::int64_t d : extents)
    shape.block(1, d < 0 ? message().block(2, std::string_view("free")) : message().number(1, d));
  return message().block(1, name).block(
      2, message().block(1, message().number(1, static_cast<std::int64_t>(type)).block(2, shape)));
}

struct graph_text {
  std::vector<message> nodes, initializers, inputs, outputs, values;

  message written() const {
    message m;
    for (const message& n : nodes) m.block(1, n);
    m.block(2, std::string_view("g"));
    for (const message& t : initializers) m.block(5, t);
    for (const message& i : inputs) m.block(11, i);
    for (const message& o : outputs) m.block(12, o);
    for (const message& v : values) m.block(13, v);
    return m;
  }
};

/// The bytes of a model; `functions` are messages of FunctionProto.
inline std::string model(const graph_text& graph, std::int64_t opset = 17, const std::vector<message>& functions = {}) {
  message m = message().number(1, 8).block(7, graph.written()).block(8, message().number(2, opset));
  for (const message& f : functions) m.block(25, f);
  return m.bytes;
}

}  // namespace levada_test
