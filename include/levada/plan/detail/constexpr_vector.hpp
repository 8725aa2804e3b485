// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan/detail/constexpr_vector.hpp: the vector of searches that run while compiling. A compiler counts every call and
// every expression that it evaluates: appending a number to a std::vector takes g++ 12 some 600 of these, here 110. And
// with _GLIBCXX_DEBUG that vector is no constant expression there.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include <levada/core/detail/exchange.hpp>

namespace levada::detail {

/// A sequence that grows at its end. Its elements are default-constructed and assigned.
template <class T>
class constexpr_vector {
 public:
  constexpr constexpr_vector() = default;
  constexpr explicit constexpr_vector(std::size_t size) : data_(new T[size]()), size_(size), capacity_(size) {}
  constexpr constexpr_vector(std::initializer_list<T> elements) { append(elements); }
  constexpr constexpr_vector(const constexpr_vector& other) { append(other); }
  constexpr constexpr_vector(constexpr_vector&& other) noexcept { swap(other); }
  constexpr constexpr_vector& operator=(constexpr_vector other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~constexpr_vector() { delete[] data_; }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) { return data_[i]; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  constexpr void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 16 : 4 * capacity_);
    data_[size_++] = value;
  }
  constexpr void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* larger = new T[capacity]();
    for (std::size_t i = 0; i < size_; ++i) larger[i] = data_[i];
    delete[] data_;
    data_ = larger;
    capacity_ = capacity;
  }
  /// Forgets its elements; they are as if never given.
  constexpr void reset(std::size_t size) {
    delete[] data_;
    data_ = new T[size]();
    size_ = capacity_ = size;
  }

 private:
  constexpr void append(const auto& elements) {
    reserve(elements.size());
    for (const T& e : elements) data_[size_++] = e;
  }
  constexpr void swap(constexpr_vector& other) noexcept {
    swap_values(data_, other.data_);
    swap_values(size_, other.size_);
    swap_values(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace levada::detail
