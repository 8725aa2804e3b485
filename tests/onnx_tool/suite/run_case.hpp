// SPDX-License-Identifier: Apache-2.0
#pragma once
// onnx_tool/suite/run_case.hpp: runs what onnx_to_levada made of one case of ONNX's suite on the data of that case.
// write_cases.cpp writes the units that use it.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <levada/interop/model_weights.hpp>
#include <levada/levada.hpp>
#include <levada/ops.hpp>

#include "model/read_model.hpp"
#include "output/lowering.hpp"

namespace levada_test {

/// A tensor of the suite, whose files have bfloat16 as uint16: of what becomes floating it is that.
inline levada::onnx::constant tensor_in(const std::string& file, levada::onnx::element type) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  levada::onnx::constant read = levada::onnx::read_tensor(std::string(std::istreambuf_iterator<char>(in), {}));
  if (read.type() == levada::onnx::element::u16 && levada::onnx::is_floating(type))
    read = {levada::onnx::element::bf16, read.dims(), {read.bytes().begin(), read.bytes().end()}};
  return read;
}

/// ONNX's type of an element of levada.
template <class T>
constexpr levada::onnx::element onnx_type() {
  using levada::onnx::element;
  if constexpr (std::is_same_v<T, bool>) return element::boolean;
  if constexpr (std::is_same_v<T, float>) return element::f32;
  if constexpr (std::is_same_v<T, double>) return element::f64;
  if constexpr (std::is_same_v<T, levada::half>) return element::f16;
  if constexpr (std::is_same_v<T, levada::bfloat16>) return element::bf16;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr element by_size[2][4] = {{element::u8, element::u16, element::u32, element::u64},
                                       {element::i8, element::i16, element::i32, element::i64}};
    return by_size[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
  }
}

/// The elements in `file` are those of `into`; float16 and bfloat16 were widened.
inline void read_elements(const std::string& file, levada::onnx::element type, void* into,
                          const levada::onnx::extents& dims) {
  levada::onnx::constant given = tensor_in(file, type);
  REQUIRE(levada::onnx::stored_dims(given.dims()) == dims);
  if (given.type() != type) {
    REQUIRE(levada::onnx::is_floating(type));
    REQUIRE(levada::onnx::is_floating(given.type()));
    given = levada::onnx::constant::of(type, given.dims(), given.as<double>());
  }
  std::memcpy(into, given.bytes().data(), given.bytes().size());
}

/// As ONNX has them; one element has an axis.
template <class T, std::size_t... Dims>
levada::onnx::extents extents_of() {
  return sizeof...(Dims) == 0 ? levada::onnx::extents{1} : levada::onnx::extents{static_cast<std::int64_t>(Dims)...};
}

template <class T, std::size_t... Dims>
void read_input(const std::string& file, levada::tensor<T, Dims...>& into) {
  read_elements(file, onnx_type<T>(), into.data(), extents_of<T, Dims...>());
}

/// Within 1e-5 of the magnitude, 1e-6 and the `inaccuracy` of the suite's own numbers, integers and bool exactly; what
/// the suite has as half is rounded to that.
inline void check_elements(const std::string& file, levada::onnx::element type, const void* data,
                           const levada::onnx::extents& dims, double inaccuracy) {
  using levada::onnx::constant;
  using levada::onnx::element;
  const constant expected = tensor_in(file, type);
  REQUIRE(levada::onnx::stored_dims(expected.dims()) == dims);
  const auto count = static_cast<std::size_t>(expected.elements());
  const bool is_half = expected.type() == element::f16, is_bfloat16 = expected.type() == element::bf16;
  if (!is_half && !is_bfloat16) REQUIRE(expected.type() == type);
  const std::byte* begin = static_cast<const std::byte*>(data);
  const constant computed(type, expected.dims(), {begin, begin + count * levada::onnx::size_of(type)});
  if (!levada::onnx::is_floating(type)) {
    CHECK(std::ranges::equal(computed.bytes(), expected.bytes()));
    return;
  }
  const std::vector<double> y = expected.as<double>(), got = computed.as<double>();
  const double relative = is_half ? 2e-3 : is_bfloat16 ? 2e-2 : 1e-5;
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(i);
    CHECK((std::isnan(y[i])
               ? std::isnan(got[i])
               : y[i] == got[i] || std::abs(y[i] - got[i]) <= relative * std::abs(y[i]) + 1e-6 + inaccuracy));
  }
}
template <class T, std::size_t... Dims>
void check_output(const std::string& file, const levada::tensor<T, Dims...>& computed, double inaccuracy = 0) {
  check_elements(file, onnx_type<T>(), computed.data(), extents_of<T, Dims...>(), inaccuracy);
}

/// A file of weights that has none.
inline levada::safetensors no_weights() {
  static constexpr char bytes[] = {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
  return levada::safetensors::from_bytes(std::as_bytes(std::span(bytes)));
}

using one_thread = levada::target<levada::cpu<1>>;

}  // namespace levada_test
