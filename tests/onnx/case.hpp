// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx/case.hpp: the data of one node case of ONNX's own test suite, read from its .pb files (a TensorProto each), and the
// comparison with what an op gives. tools/onnx_node_cases.py writes the tests that use it.

#include <fstream>
#include <iterator>
#include <string>

#ifndef LEVADA_ONNX_BACKENDS
#define LEVADA_ONNX_BACKENDS "onnx/cpu_backends.hpp"
#endif
#include LEVADA_ONNX_BACKENDS

namespace levada::testing {

/// A TensorProto: its extents and its elements as bytes.
struct tensor_proto {
  std::vector<std::size_t> extents;
  int type = 0;
  std::string raw;

  explicit tensor_proto(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::size_t at = 0;
    while (at < text.size()) field(text, at);
  }

 private:
  static std::uint64_t varint(const std::string& text, std::size_t& at) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(text.at(at++));
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  void field(const std::string& text, std::size_t& at) {
    const std::uint64_t tag = varint(text, at), number = tag >> 3;
    const bool block = (tag & 7) == 2;
    const std::uint64_t value = varint(text, at);
    if (number == 1 && !block) extents.push_back(value);
    if (number == 2) type = static_cast<int>(value);
    if (!block) return;
    if (number == 1)
      for (std::size_t i = at; i < at + value;) extents.push_back(varint(text, i));
    // int32_data and int64_data, packed varints: no case that is read here has them.
    REQUIRE(number != 5);
    REQUIRE(number != 7);
    if (number == 9 || number == 4 || number == 10) raw = text.substr(at, value);  // raw_data, float_data, double_data
    at += value;
  }
};

/// One folder of the suite.
class node_case {
 public:
  explicit node_case(const char* name)
      : folder_(std::string(LEVADA_ONNX_NODE_CASES "/test_") + name + "/test_data_set_0/") {}

  /// Input `number`, or item `item` of those along its first axis.
  template <class Tensor>
  Tensor input(int number, std::size_t item = 0) const {
    return read<Tensor>("input_", number, item);
  }

  /// `computed` is output `number` within 1e-5 of its magnitude and 1e-6, in its type.
  template <class T, std::size_t... Dims>
  void check(const tensor<T, Dims...>& computed, int number = 0, std::size_t item = 0) const {
    const auto expected = read<tensor<T, Dims...>>("output_", number, item);
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
    const tensor_proto proto(folder_ + "output_0.pb");
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
    if constexpr (std::is_same_v<T, half>)
      return static_cast<double>(static_cast<float>(x));
    else
      return static_cast<double>(x);
  }

  template <class Tensor>
  Tensor read(const char* kind, int number, std::size_t item) const {
    using value = typename Tensor::value_type;
    // TensorProto.DataType by levada's element
    constexpr int types[] = {0, 10, 1, 11, 2, 3, 4, 5, 12, 6, 13, 7, 9};
    const tensor_proto proto(folder_ + kind + std::to_string(number) + ".pb");
    REQUIRE(proto.type == types[static_cast<std::size_t>(element_of<value>)]);
    REQUIRE(proto.raw.size() >= (item + 1) * Tensor::elements * sizeof(value));
    REQUIRE(proto.raw.size() % (Tensor::elements * sizeof(value)) == 0);
    Tensor t;
    std::memcpy(t.data(), proto.raw.data() + item * Tensor::elements * sizeof(value), Tensor::elements * sizeof(value));
    return t;
  }

  std::string folder_;
};

}  // namespace levada::testing
