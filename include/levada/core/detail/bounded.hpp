// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/bounded.hpp: a sequence of which only the bound is known while compiling (detections, matches, parts).

#include <array>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/detail/needs_exceptions.hpp>

namespace levada {

/// At most `N` values of `T`, stored in the object itself. Usable in constant expressions for default-constructible
/// literal types. Never allocates: `try_push_back` says whether there was room, `push_back` demands it.
template <class T, std::size_t N>
class bounded {
 public:
  using value_type = T;
  static constexpr std::size_t capacity() { return N; }

  // Defaulted, g++ and clang would have it that it throws nothing, whatever T does.
  constexpr bounded() noexcept(noexcept(T())) {}
  constexpr bounded(std::initializer_list<T> values) {
    for (const T& v : values) push_back(v);
  }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr bool full() const { return size_ == N; }

  constexpr T* data() { return values_.data(); }
  constexpr const T* data() const { return values_.data(); }
  constexpr T* begin() { return data(); }
  constexpr T* end() { return data() + size_; }
  constexpr const T* begin() const { return data(); }
  constexpr const T* end() const { return data() + size_; }
  constexpr T& operator[](std::size_t i) { return values_[i]; }
  constexpr const T& operator[](std::size_t i) const { return values_[i]; }
  constexpr T& back() { return values_[size_ - 1]; }
  constexpr const T& back() const { return values_[size_ - 1]; }

  /// Appends and says true, or says false when full.
  constexpr bool try_push_back(const T& value) {
    if (full()) return false;
    values_[size_] = value;
    ++size_;
    return true;
  }
  constexpr bool try_push_back(T&& value) {
    if (full()) return false;
    values_[size_] = std::move(value);
    ++size_;
    return true;
  }

  /// Appends; throws std::bad_alloc when full (in a constant expression: a compile error).
  constexpr T& push_back(const T& value) {
    if (!try_push_back(value)) throw std::bad_alloc();
    return back();
  }
  constexpr T& push_back(T&& value) {
    if (!try_push_back(std::move(value))) throw std::bad_alloc();
    return back();
  }

  constexpr void resize(std::size_t size) {
    if (size > N) throw std::bad_alloc();
    for (; size_ > size; --size_) values_[size_ - 1] = T{};
    size_ = size;
  }
  constexpr void clear() { resize(0); }

  friend constexpr bool operator==(const bounded& a, const bounded& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.values_[i] == b.values_[i])) return false;
    return true;
  }

 private:
  std::array<T, N> values_{};
  std::size_t size_ = 0;
};

}  // namespace levada
