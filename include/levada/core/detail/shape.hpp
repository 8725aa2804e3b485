// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/shape.hpp: element types and extents as plain values, so that plans, messages and files can speak of
// tensors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <levada/core/detail/bfloat16.hpp>
#include <levada/core/detail/half.hpp>

namespace levada {

/// The element types a tensor can hold. `other` stands for item types that are no tensors.
enum class element : std::uint8_t { other, f16, bf16, f32, f64, u8, i8, u16, i16, u32, i32, u64, i64, boolean };

template <class T>
inline constexpr element element_of = element::other;
template <>
inline constexpr element element_of<half> = element::f16;
template <>
inline constexpr element element_of<bfloat16> = element::bf16;
template <>
inline constexpr element element_of<float> = element::f32;
template <>
inline constexpr element element_of<double> = element::f64;
template <>
inline constexpr element element_of<std::uint8_t> = element::u8;
template <>
inline constexpr element element_of<std::int8_t> = element::i8;
template <>
inline constexpr element element_of<std::uint16_t> = element::u16;
template <>
inline constexpr element element_of<std::int16_t> = element::i16;
template <>
inline constexpr element element_of<std::uint32_t> = element::u32;
template <>
inline constexpr element element_of<std::int32_t> = element::i32;
template <>
inline constexpr element element_of<std::uint64_t> = element::u64;
template <>
inline constexpr element element_of<std::int64_t> = element::i64;
template <>
inline constexpr element element_of<bool> = element::boolean;

/// A type that a tensor can hold.
template <class T>
concept tensor_element = element_of<T> != element::other;

/// The name of an element type as reports and messages print it.
constexpr std::string_view name_of(element e) {
  constexpr std::string_view names[] = {"other",  "float16", "bfloat16", "float", "double", "uint8", "int8",
                                        "uint16", "int16",   "uint32",   "int32", "uint64", "int64", "bool"};
  return names[static_cast<std::size_t>(e)];
}

/// The bytes of one element.
constexpr std::size_t size_of(element e) {
  constexpr std::uint8_t sizes[] = {0, 2, 2, 4, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return sizes[static_cast<std::size_t>(e)];
}

/// The extents of a tensor as a value, outermost first; rank at most `max_rank`.
struct shape {
  static constexpr std::size_t max_rank = 8;

  std::array<std::size_t, max_rank> extents{};
  std::size_t rank = 0;

  constexpr shape() = default;
  /// No constructor: each copy of a shape would be asked whether it is a range.
  static constexpr shape of(std::span<const std::size_t> dims) {
    shape s;
    for (const std::size_t d : dims) s.extents[s.rank++] = d;
    return s;
  }
  template <class... Extent>
    requires(sizeof...(Extent) > 0 && sizeof...(Extent) <= max_rank)
  constexpr explicit shape(Extent... dims) : extents{static_cast<std::size_t>(dims)...}, rank(sizeof...(Extent)) {}

  constexpr std::size_t operator[](std::size_t axis) const { return extents[axis]; }
  constexpr const std::size_t* begin() const { return extents.data(); }
  constexpr const std::size_t* end() const { return extents.data() + rank; }

  /// The number of elements; 1 for rank 0.
  constexpr std::size_t elements() const {
    std::size_t n = 1;
    for (std::size_t d : *this) n *= d;
    return n;
  }

  friend constexpr bool operator==(const shape&, const shape&) = default;
};

}  // namespace levada
