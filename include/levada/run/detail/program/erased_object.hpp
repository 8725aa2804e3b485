// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/program/erased_object.hpp: an object of a stage or a kernel whose type is no longer known.

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/run/detail/program/large_objects.hpp>

namespace levada::detail {

/// An object of a type that is no longer known, on cache lines of its own: two stages run on two processors.
class erased_object {
 public:
  erased_object() = default;
  /// Constructs a `T` from the arguments. `Copies`: there is code that copies it.
  template <class T, bool Copies = std::is_copy_constructible_v<T>, class... Arguments>
  static erased_object make(Arguments&&... arguments) {
    erased_object o;
    o.object_ = new own_lines<T>{{}, T(std::forward<Arguments>(arguments)...)};
    o.destroy_ = &destroy<T>;
    if constexpr (Copies) o.copy_ = &copy_of<T>;
    return o;
  }
  /// The same for trivially copyable types, with no code for each.
  static erased_object make_trivial(const void* from, std::size_t bytes, std::size_t alignment) {
    erased_object o;
    o.bytes_ = bytes;
    o.alignment_ = std::align_val_t{alignment < cache_line ? cache_line : alignment};
    o.object_ = copy_bytes(from, bytes, o.alignment_);
    o.destroy_ = [](void* p, std::align_val_t aligned) noexcept { ::operator delete(p, aligned); };
    o.copy_ = &copy_bytes;
    return o;
  }
  /// One that others may have, too, and nobody changes. It has no copies.
  static erased_object shared(std::shared_ptr<const void> object) {
    erased_object o;
    o.object_ = const_cast<void*>(object.get());
    o.owner_ = std::move(object);
    o.destroy_ = [](void*, std::align_val_t) noexcept {};
    return o;
  }

  erased_object(erased_object&& other) noexcept { swap(other); }
  erased_object& operator=(erased_object&& other) noexcept {
    swap(other);
    return *this;
  }
  ~erased_object() {
    if (object_ != nullptr) destroy_(object_, alignment_);
  }

  /// Becomes a copy of `from` once more, of which it is a copy, where its bytes are all that is copied. Says whether it
  /// did.
  bool copy_again(const erased_object& from) {
    if (object_ == nullptr || copy_ != &copy_bytes) return false;
    std::memcpy(object_, from.object_, bytes_);
    return true;
  }
  /// The object ends, unless nobody would see that.
  void end() noexcept {
    if (copy_ != &copy_bytes) *this = erased_object();
  }

  void* get() const { return object_; }
  bool copyable() const { return copy_ != nullptr; }
  erased_object copy() const {
    erased_object o;
    o.bytes_ = bytes_;
    o.alignment_ = alignment_;
    o.object_ = copy_(object_, bytes_, alignment_);
    o.destroy_ = destroy_;
    o.copy_ = copy_;
    return o;
  }

 private:
  static constexpr std::size_t cache_line = 64;
  template <class T>
  struct alignas(alignof(T) < cache_line ? cache_line : alignof(T)) own_lines
      : std::conditional_t<is_large_object(sizeof(T), alignof(T)), large_object, small_object> {
    T object;
  };

  // Functions, since a lambda that becomes a pointer is three of them without optimisation.
  template <class T>
  static void destroy(void* p, std::align_val_t) noexcept {
    delete static_cast<own_lines<T>*>(p);
  }
  template <class T>
  static void* copy_of(const void* p, std::size_t, std::align_val_t) {
    return new own_lines<T>{{}, *static_cast<const T*>(p)};
  }
  static void* copy_bytes(const void* from, std::size_t bytes, std::align_val_t alignment) {
    return std::memcpy(::operator new((bytes + cache_line - 1) / cache_line * cache_line, alignment), from, bytes);
  }
  void swap(erased_object& other) noexcept {
    swap_values(object_, other.object_);
    swap_values(bytes_, other.bytes_);
    swap_values(alignment_, other.alignment_);
    swap_values(destroy_, other.destroy_);
    swap_values(copy_, other.copy_);
    owner_.swap(other.owner_);
  }

  void* object_ = nullptr;
  std::size_t bytes_ = 0;
  std::align_val_t alignment_{1};
  void (*destroy_)(void*, std::align_val_t) noexcept = nullptr;
  void* (*copy_)(const void*, std::size_t, std::align_val_t) = nullptr;
  std::shared_ptr<const void> owner_;  ///< of a shared one
};

}  // namespace levada::detail
