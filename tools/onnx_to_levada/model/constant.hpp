// SPDX-License-Identifier: Apache-2.0
#pragma once
// model/constant.hpp: a tensor whose elements are known: an initializer, an attribute, or what was folded.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "element.hpp"
#include "error.hpp"

namespace levada::onnx {

using extents = std::vector<std::int64_t>;

/// More elements than any tensor of a model has: products of two numbers below it do not overflow.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 31;

/// The number of elements; 1 of no axes, negative where an extent is.
inline std::int64_t elements_of(const extents& dims) {
  std::int64_t count = 1;
  bool negative = false;
  for (const std::int64_t d : dims) {
    const std::int64_t size = d < 0 ? -std::max(d, -most_elements) : d;
    if (size != 0 && count > most_elements / size) throw conversion_error("a tensor has more than 2^31 elements");
    count *= size;
    negative = negative || d < 0;
  }
  return negative ? -count : count;
}

/// Those of the axes from `begin` up to `end`.
inline std::int64_t elements_between(const extents& dims, std::size_t begin, std::size_t end) {
  return elements_of(
      {dims.begin() + static_cast<std::ptrdiff_t>(begin), dims.begin() + static_cast<std::ptrdiff_t>(end)});
}

/// Dense, row-major, little-endian; its bytes are shared by copies.
class constant {
 public:
  constant() = default;
  constant(element type, extents dims, std::vector<std::byte> bytes)
      : type_(type), dims_(std::move(dims)), size_(bytes.size()) {
    auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    data_ = std::shared_ptr<const std::byte>(owner, owner->data());
  }
  /// Bytes that something else keeps, as a file does.
  constant(element type, extents dims, std::shared_ptr<const std::byte> data, std::size_t size)
      : type_(type), dims_(std::move(dims)), data_(std::move(data)), size_(size) {}

  template <class T>
  static constant of(element type, extents dims, const std::vector<T>& numbers);

  element type() const { return type_; }
  const extents& dims() const { return dims_; }
  std::int64_t elements() const { return elements_of(dims_); }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  constant shaped(extents dims) const { return {type_, std::move(dims), data_, size_}; }

  /// The elements as numbers of `T` (double or std::int64_t).
  template <class T>
  std::vector<T> as() const;
  /// The only element.
  template <class T>
  T scalar() const {
    const std::vector<T> all = as<T>();
    if (all.size() != 1) throw conversion_error("one number is expected");
    return all[0];
  }

 private:
  element type_ = element::undefined;
  extents dims_;
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

/// Whether all elements are zero, of either sign.
bool is_zero(const constant& known);

/// IEEE 754 binary16 and bfloat16, from and to float, rounded to nearest even.
float from_half(std::uint16_t bits);
std::uint16_t to_half(float value);
float from_bfloat16(std::uint16_t bits);
std::uint16_t to_bfloat16(float value);

}  // namespace levada::onnx
