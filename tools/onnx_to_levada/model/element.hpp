// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/element.hpp: the types of elements of ONNX (TensorProto.DataType), their sizes and their names.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace levada::onnx {

/// TensorProto.DataType.
enum class element : std::int32_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
};

struct element_names {
  element type;
  std::size_t size;              ///< bytes of one element
  std::string_view cpp;          ///< the element of a levada::tensor
  std::string_view safetensors;  ///< "F32", ...
  std::string_view onnx;
};

inline constexpr element_names element_table[] = {
    {element::f32, 4, "float", "F32", "float"},
    {element::u8, 1, "std::uint8_t", "U8", "uint8"},
    {element::i8, 1, "std::int8_t", "I8", "int8"},
    {element::u16, 2, "std::uint16_t", "U16", "uint16"},
    {element::i16, 2, "std::int16_t", "I16", "int16"},
    {element::i32, 4, "std::int32_t", "I32", "int32"},
    {element::i64, 8, "std::int64_t", "I64", "int64"},
    {element::boolean, 1, "bool", "BOOL", "bool"},
    {element::f16, 2, "lv::half", "F16", "float16"},
    {element::f64, 8, "double", "F64", "double"},
    {element::u32, 4, "std::uint32_t", "U32", "uint32"},
    {element::u64, 8, "std::uint64_t", "U64", "uint64"},
    {element::bf16, 2, "lv::bfloat16", "BF16", "bfloat16"},
};

/// The names of a type; null of one that levada lacks.
constexpr const element_names* names_of(element type) {
  for (const element_names& names : element_table)
    if (names.type == type) return &names;
  return nullptr;
}
constexpr std::size_t size_of(element type) {
  const element_names* names = names_of(type);
  return names == nullptr ? 0 : names->size;
}
constexpr bool is_floating(element type) {
  return type == element::f32 || type == element::f64 || type == element::f16 || type == element::bf16;
}

}  // namespace levada::onnx
