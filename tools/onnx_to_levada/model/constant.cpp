// SPDX-License-Identifier: Apache-2.0
#include "constant.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace levada::onnx {

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const int exponent = (bits >> 10) & 31;
  const std::uint32_t fraction = bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t to_half(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  if (steps == 2048) steps = 1024, ++exponent;
  const int biased = steps < 1024 ? 0 : exponent + 15;
  return static_cast<std::uint16_t>(sign | biased << 10 | (static_cast<int>(steps) & 1023));
}

float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

namespace {

/// Calls `f` with a null pointer to the C++ type that holds the elements.
template <class F>
void for_element(element type, F f) {
  switch (type) {
    case element::f32:
      return f(static_cast<float*>(nullptr));
    case element::f64:
      return f(static_cast<double*>(nullptr));
    case element::u8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case element::boolean:
      return f(static_cast<std::uint8_t*>(nullptr));
    case element::i8:
      return f(static_cast<std::int8_t*>(nullptr));
    case element::u16:
      return f(static_cast<std::uint16_t*>(nullptr));
    case element::i16:
      return f(static_cast<std::int16_t*>(nullptr));
    case element::i32:
      return f(static_cast<std::int32_t*>(nullptr));
    case element::i64:
      return f(static_cast<std::int64_t*>(nullptr));
    case element::u32:
      return f(static_cast<std::uint32_t*>(nullptr));
    case element::u64:
      return f(static_cast<std::uint64_t*>(nullptr));
    case element::f16:
    case element::bf16:
      return f(static_cast<std::uint16_t*>(nullptr));
    default:
      throw conversion_error("tensors of strings and of packed elements have no numbers");
  }
}

template <class Stored, class T>
T number_of(element type, Stored stored) {
  if (type == element::f16) return static_cast<T>(from_half(static_cast<std::uint16_t>(stored)));
  if (type == element::bf16) return static_cast<T>(from_bfloat16(static_cast<std::uint16_t>(stored)));
  return static_cast<T>(stored);
}

template <class Stored, class T>
Stored stored_of(element type, T number) {
  if (type == element::f16) return static_cast<Stored>(to_half(static_cast<float>(number)));
  if (type == element::bf16) return static_cast<Stored>(to_bfloat16(static_cast<float>(number)));
  if (type == element::boolean) return static_cast<Stored>(number != 0);
  if constexpr (std::is_floating_point_v<T> && std::is_integral_v<Stored>) {
    // As levada's cast: NaN gives 0, what is beyond the type its nearest end.
    if (std::isnan(number)) return 0;
    if (number >= static_cast<T>(std::numeric_limits<Stored>::max())) return std::numeric_limits<Stored>::max();
    if (number <= static_cast<T>(std::numeric_limits<Stored>::lowest())) return std::numeric_limits<Stored>::lowest();
  }
  return static_cast<Stored>(number);
}

}  // namespace

template <class T>
std::vector<T> constant::as() const {
  std::vector<T> numbers;
  for_element(type_, [&]<class Stored>(Stored*) {
    const std::size_t count = size_ / sizeof(Stored);
    numbers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      Stored stored;
      std::memcpy(&stored, data_.get() + i * sizeof(Stored), sizeof stored);
      numbers.push_back(number_of<Stored, T>(type_, stored));
    }
  });
  return numbers;
}

template <class T>
constant constant::of(element type, extents dims, const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * size_of(type));
  for_element(type, [&]<class Stored>(Stored*) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Stored stored = stored_of<Stored>(type, numbers[i]);
      std::memcpy(bytes.data() + i * sizeof stored, &stored, sizeof stored);
    }
  });
  return {type, std::move(dims), std::move(bytes)};
}

bool is_zero(const constant& known) {
  return std::ranges::all_of(known.as<double>(), [](double x) { return x == 0; });
}

template std::vector<double> constant::as() const;
template std::vector<std::int64_t> constant::as() const;
template constant constant::of(element, extents, const std::vector<double>&);
template constant constant::of(element, extents, const std::vector<std::int64_t>&);

}  // namespace levada::onnx
