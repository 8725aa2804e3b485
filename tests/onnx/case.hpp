// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx/case.hpp: the data of one case of ONNX's own test suite, read from its .pb files (a TensorProto each), and the
// comparison with what an op gives. tools/onnx_node_cases.py writes the tests that use it.

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#ifndef LEVADA_ONNX_BACKENDS
#define LEVADA_ONNX_BACKENDS "onnx/cpu_backends.hpp"
#endif
#include LEVADA_ONNX_BACKENDS

#include <levada/ops.hpp>

namespace levada::testing {

/// Protobuf: calls `f(number, value, block)` for each field, `block` empty where it is a number.
template <class F>
void for_each_field(std::string_view text, F f) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      REQUIRE(at < text.size());
      const auto byte = static_cast<unsigned char>(text[at++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < text.size()) {
    const std::uint64_t tag = varint(), kind = tag & 7, value = kind == 5 ? 4 : kind == 1 ? 8 : varint();
    const bool block = kind == 2 || kind == 5 || kind == 1;
    f(tag >> 3, value, block ? text.substr(at, value) : std::string_view());
    if (block) at += value;
  }
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A TensorProto: its extents and its elements as bytes.
struct tensor_proto {
  std::vector<std::size_t> extents;
  int type = 0;
  std::string raw;

  explicit tensor_proto(std::string_view text) {
    for_each_field(text, [&](std::uint64_t number, std::uint64_t value, std::string_view block) {
      if (number == 1) extents.push_back(value);
      if (number == 2) type = static_cast<int>(value);
      if (number == 9 || number == 4 || number == 10) raw = block;  // raw_data, float_data, double_data
    });
  }
};

/// One folder of the suite.
class node_case {
 public:
  explicit node_case(const char* name) : folder_(std::string(LEVADA_ONNX_CASES "/") + name + "/") {}

  /// Input `number`, or item `item` of those along its first axis.
  template <class Tensor>
  Tensor input(int number, std::size_t item = 0) const {
    return tensor_in<Tensor>(file("input_", number), item);
  }
  /// Tensor `number` of those that lie in the model.
  template <class Tensor>
  Tensor initializer(int number) const {
    std::string found;
    for_each_field(bytes_of(folder_ + "model.onnx"), [&](std::uint64_t field, std::uint64_t, std::string_view graph) {
      if (field != 7) return;
      for_each_field(graph, [&](std::uint64_t part, std::uint64_t, std::string_view tensor) {
        if (part == 5 && number-- == 0) found = tensor;
      });
    });
    return tensor_in<Tensor>(found, 0);
  }

  /// `computed` is output `number` within 1e-5 of its magnitude and 1e-6, in its type.
  template <class T, std::size_t... Dims>
  void check(const tensor<T, Dims...>& computed, int number = 0, std::size_t item = 0) const {
    const auto expected = tensor_in<tensor<T, Dims...>>(file("output_", number), item);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const double y = as_double(expected[i]), got = as_double(computed[i]);
      CAPTURE(i);
      CHECK((std::isnan(y) ? std::isnan(got) : y == got || std::abs(y - got) <= 1e-5 * std::abs(y) + 1e-6));
    }
  }
  template <class... T>
  void check(const std::tuple<T...>& computed) const {
    int number = 0;
    std::apply([&](const T&... t) { (check(t, number++), ...); }, computed);
  }
  /// The boxes of item `item` are those of the only output, whose rows are item, class and box.
  template <std::size_t N>
  void check(const bounded<selected_box, N>& computed, std::size_t item) const {
    const tensor_proto proto(file("output_", 0));
    REQUIRE(proto.extents.size() == 2);
    std::vector<std::int64_t> rows(3 * proto.extents[0]);
    REQUIRE(proto.raw.size() == rows.size() * sizeof rows[0]);
    std::memcpy(rows.data(), proto.raw.data(), proto.raw.size());
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows.size(); row += 3)
      if (rows[row] == static_cast<std::int64_t>(item)) {
        REQUIRE(count < computed.size());
        CHECK(computed[count++] == selected_box{static_cast<int>(rows[row + 1]), static_cast<int>(rows[row + 2])});
      }
    CHECK(count == computed.size());
  }

 private:
  template <class T>
  static double as_double(T x) {
    if constexpr (std::is_class_v<T>)
      return static_cast<double>(static_cast<float>(x));
    else
      return static_cast<double>(x);
  }

  std::string file(const char* kind, int number) const {
    return bytes_of(folder_ + "test_data_set_0/" + kind + std::to_string(number) + ".pb");
  }

  /// Item `item` of a TensorProto, or all of it.
  template <class Tensor>
  static Tensor tensor_in(std::string_view text, std::size_t item) {
    using value = typename Tensor::value_type;
    // TensorProto.DataType by levada's element
    constexpr int types[] = {0, 10, 16, 1, 11, 2, 3, 4, 5, 12, 6, 13, 7, 9};
    const tensor_proto proto(text);
    // The suite's files have bfloat16 as its bits, uint16: NumPy has no such type.
    constexpr element stored = std::is_same_v<value, bfloat16> ? element::u16 : element_of<value>;
    REQUIRE(proto.type == types[static_cast<std::size_t>(stored)]);
    REQUIRE(proto.raw.size() >= (item + 1) * Tensor::elements * sizeof(value));
    REQUIRE(proto.raw.size() % (Tensor::elements * sizeof(value)) == 0);
    Tensor t;
    std::memcpy(t.data(), proto.raw.data() + item * Tensor::elements * sizeof(value), Tensor::elements * sizeof(value));
    return t;
  }

  std::string folder_;
};

}  // namespace levada::testing
