// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/storage.hpp: memory of a run time that takes all it needs at once: bytes, a number of objects, a single
// one.
//
// For so many element types as there are here, std::vector and std::unique_ptr were a fifth of what compiling a small
// program took (./tests/compile_cost): nothing here grows, and nothing is compared, copied or deleted in another way.

#include <cstddef>
#include <cstdint>
#include <new>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/large_pages.hpp>
#include <levada/core/detail/needs_exceptions.hpp>

namespace levada::detail {

/// The bytes of so many objects. Throws std::bad_array_new_length where no memory could hold them: a caller's number
/// may be any.
inline std::size_t bytes_of(std::size_t count, std::size_t bytes_each) {
  if (bytes_each != 0 && count > static_cast<std::size_t>(PTRDIFF_MAX) / bytes_each) throw std::bad_array_new_length();
  return count * bytes_each;
}

/// std::is_trivially_destructible_v by the compiler's own word: a dozen instantiations less for each type.
template <class T>
inline constexpr bool needs_no_destructor =
#if __has_builtin(__is_trivially_destructible)
    __is_trivially_destructible(T);
#else
    __has_trivial_destructor(T);
#endif

/// Aligned bytes; none by default. Made and ended out of line: that is seldom, and written in many places.
class arena_bytes {
 public:
  arena_bytes() = default;
  [[gnu::noinline, gnu::cold]] arena_bytes(std::size_t bytes, std::size_t alignment)
      : alignment_(bytes < 2 * large_page || alignment > large_page ? alignment : large_page),
        bytes_(static_cast<std::byte*>(::operator new(bytes != 0 ? bytes : 1, std::align_val_t{alignment_}))) {
    if (alignment_ == large_page) ask_for_large_pages(bytes_, bytes);
  }
  arena_bytes(std::size_t count, std::size_t bytes_each, std::size_t alignment)
      : arena_bytes(bytes_of(count, bytes_each), alignment) {}
  [[gnu::noinline]] ~arena_bytes() {
    if (bytes_ != nullptr) ::operator delete(bytes_, std::align_val_t{alignment_});
  }
  arena_bytes(arena_bytes&& other) noexcept : alignment_(other.alignment_), bytes_(other.bytes_) {
    other.bytes_ = nullptr;
  }
  arena_bytes& operator=(arena_bytes&& other) noexcept {
    swap_values(alignment_, other.alignment_);
    swap_values(bytes_, other.bytes_);
    return *this;
  }
  std::byte* get() const { return bytes_; }

 private:
  std::size_t alignment_ = 1;
  std::byte* bytes_ = nullptr;
};

/// A number of objects that is known when they are made. They need not be movable.
template <class T>
class fixed_array {
 public:
  fixed_array() = default;
  explicit fixed_array(std::size_t size) : fixed_array(size, [](std::size_t) { return T(); }) {}
  /// Each is made by `make(index)`.
  template <class Make>
  fixed_array(std::size_t size, Make make) : fixed_array() {
    if (size == 0) return;
    first_ = static_cast<T*>(::operator new(bytes_of(size, sizeof(T)), std::align_val_t{alignof(T)}));
    for (; size_ < size; ++size_) ::new (static_cast<void*>(first_ + size_)) T(make(size_));
  }
  fixed_array(const fixed_array& other) : fixed_array(other.size_, [&](std::size_t i) { return other[i]; }) {}
  ~fixed_array() {
    if constexpr (!needs_no_destructor<T>)
      while (size_ != 0) first_[--size_].~T();
    ::operator delete(first_, std::align_val_t{alignof(T)});
  }
  fixed_array(fixed_array&& other) noexcept : first_(other.first_), size_(other.size_) {
    other.first_ = nullptr;
    other.size_ = 0;
  }
  fixed_array& operator=(fixed_array&& other) noexcept {
    swap_values(first_, other.first_);
    swap_values(size_, other.size_);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return first_[i]; }
  const T& operator[](std::size_t i) const { return first_[i]; }
  T* begin() { return first_; }
  T* end() { return first_ + size_; }
  T& front() { return *first_; }
  T& back() { return first_[size_ - 1]; }
  const T* begin() const { return first_; }
  const T* end() const { return first_ + size_; }
  const T& front() const { return *first_; }
  const T& back() const { return first_[size_ - 1]; }

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
};

/// So many objects within another. Each is made by `make(index)`: an initialiser of a thousand expressions would be one
/// to compile. Trivially copyable where they are.
template <class T, std::size_t N>
  requires needs_no_destructor<T>
class made_array {
 public:
  template <class Make>
  explicit made_array(Make make) {
    for (std::size_t i = 0; i < N; ++i) ::new (static_cast<void*>(of_.objects + i)) T(make(i));
  }
  const T& operator[](std::size_t i) const { return of_.objects[i]; }

 private:
  union memory {
    memory() {}
    T objects[N];
  } of_;
};

/// One object on the heap, or none.
template <class T>
class owner {
 public:
  owner() = default;
  explicit owner(T* object) : object_(object) {}
  ~owner() { delete object_; }
  owner(owner&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  owner& operator=(owner&& other) noexcept {
    swap_values(object_, other.object_);
    return *this;
  }

  explicit operator bool() const { return object_ != nullptr; }
  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  /// The object is the caller's from here on.
  T* release() { return exchange_value(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace levada::detail
