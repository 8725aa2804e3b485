// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/result.hpp: the result of a pipeline for one item: its value, or the exception of its stage.

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <levada/core/detail/needs_exceptions.hpp>

namespace levada {

/// Asks `result` to construct its value from the call `f()`, in place and without a move.
struct from_call_t {};
inline constexpr from_call_t from_call{};

/// Asks `result` to move its value from where it is. Where that throws, the exception is the result.
struct moved_from_t {};
inline constexpr moved_from_t moved_from{};

/// A value or an exception. `*r` and `r->` need a value; `value()` throws the exception instead.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;

  template <class F>
  result(from_call_t, F&& f) : value_(std::forward<F>(f)()), has_value_(true) {}
  result(moved_from_t, T& value) noexcept : has_value_(true) {
    try {
      std::construct_at(std::addressof(value_), std::move(value));
    } catch (...) {
      std::construct_at(std::addressof(error_), std::current_exception());
      has_value_ = false;
    }
  }
  result(T value) : value_(std::move(value)), has_value_(true) {}
  result(std::exception_ptr error) : error_(std::move(error)), has_value_(false) {}

  result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(std::addressof(value_), std::move(other.value_));
    else
      std::construct_at(std::addressof(error_), std::move(other.error_));
  }
  result(const result& other)
    requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(std::addressof(value_), other.value_);
    else
      std::construct_at(std::addressof(error_), other.error_);
  }
  /// Where moving the value throws, the exception is the result as well.
  result& operator=(result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    std::destroy_at(this);
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
      std::construct_at(this, std::move(other));
    } else {
      try {
        std::construct_at(this, std::move(other));
      } catch (...) {
        std::construct_at(this, std::current_exception());
        throw;
      }
    }
    return *this;
  }
  ~result() {
    if (has_value_)
      std::destroy_at(std::addressof(value_));
    else
      std::destroy_at(std::addressof(error_));
  }

  /// A value, and no exception.
  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value_; }

  /// The value; there has to be one.
  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  T&& operator*() && { return std::move(value_); }
  T* operator->() { return std::addressof(value_); }
  const T* operator->() const { return std::addressof(value_); }

  /// The value; throws what the item's stage threw where there is none.
  T& value() & { return rethrow(), value_; }
  const T& value() const& { return rethrow(), value_; }
  T&& value() && { return rethrow(), std::move(value_); }

  /// The exception, or null where there is a value.
  std::exception_ptr error() const { return has_value_ ? std::exception_ptr() : error_; }

 private:
  void rethrow() const {
    if (!has_value_) std::rethrow_exception(error_);
  }

  union {
    T value_;
    std::exception_ptr error_;
  };
  bool has_value_;
};

/// The result of an item that stays where it is: a reference to the value, or the exception. Valid as long as what gave
/// it says (a stream: until it moves on).
template <class T>
class [[nodiscard]] result<T&> {
 public:
  using value_type = T;

  explicit result(T& value) : value_(std::addressof(value)) {}
  explicit result(std::exception_ptr error) : error_(std::move(error)) {}

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }
  T& value() const {
    if (value_ == nullptr) std::rethrow_exception(error_);
    return *value_;
  }
  std::exception_ptr error() const { return error_; }

 private:
  T* value_ = nullptr;
  std::exception_ptr error_;
};

/// The result of a pipeline that ends in a sink.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;

  result() = default;
  result(std::exception_ptr error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void value() const {
    if (error_) std::rethrow_exception(error_);
  }
  std::exception_ptr error() const { return error_; }

 private:
  std::exception_ptr error_;
};

namespace detail {

/// The result that is handed out of a slot: the value where it lies, or none behind a sink.
template <class Out>
using handed_result = std::conditional_t<std::is_void_v<Out>, result<void>, result<std::add_lvalue_reference_t<Out>>>;

}  // namespace detail
}  // namespace levada
