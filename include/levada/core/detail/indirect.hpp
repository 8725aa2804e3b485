// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/indirect.hpp: a value that does not lie in the object that has it: what is aligned more strictly than a
// coroutine's frame, or too large for a stack.
//
// Compilers take a frame from the plain `operator new`, and do not align it more strictly for what it holds.

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/slot_result.hpp>

namespace levada {

/// A value in memory of its own. Moving it leaves the value where it is; what was moved from has none.
template <class T>
class indirect {
 public:
  template <class Given>
    requires(std::constructible_from<T, Given> && !std::same_as<std::remove_cvref_t<Given>, indirect>)
  explicit indirect(Given&& given) : value_(std::make_unique<T>(std::forward<Given>(given))) {}
  indirect(indirect&&) noexcept = default;
  indirect(const indirect& other)
    requires std::copy_constructible<T>
      : indirect(*other) {}
  indirect& operator=(indirect&&) noexcept = default;
  indirect& operator=(const indirect& other)
    requires std::copy_constructible<T>
  {
    return *this = indirect(other);
  }

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  std::unique_ptr<T> value_;
};

/// A value in memory of its own or an exception, used as a `result<T>`.
template <class T>
class [[nodiscard]] result<indirect<T>> {
 public:
  using value_type = T;

  result(indirect<T> value) : value_(std::move(value)) {}
  result(moved_from_t, indirect<T>& value) noexcept : value_(std::move(value)) {}
  result(std::exception_ptr error) : error_(std::move(error)) {}

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return **value_; }
  const T& operator*() const& { return **value_; }
  T&& operator*() && { return std::move(**value_); }
  T* operator->() { return std::addressof(**value_); }
  const T* operator->() const { return std::addressof(**value_); }

  T& value() & { return rethrow(), **value_; }
  const T& value() const& { return rethrow(), **value_; }
  T&& value() && { return rethrow(), std::move(**value_); }

  /// The exception, or null where there is a value.
  std::exception_ptr error() const { return error_; }

 private:
  void rethrow() const {
    if (!has_value()) std::rethrow_exception(error_);
  }

  std::optional<indirect<T>> value_;
  std::exception_ptr error_;
};

namespace detail {

template <class T>
inline constexpr bool fits_in_frame = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
template <class T>
struct frame_holds : std::type_identity<T> {};
template <class T>
  requires(!std::is_void_v<T> && (!fits_in_frame<T> || is_large_result<T>))
struct frame_holds<T> : std::type_identity<indirect<T>> {};

/// What an object that may lie in a coroutine's frame holds a T as.
template <class T>
using in_frame = typename frame_holds<T>::type;

template <class T>
T& value_in(T& held) {
  return held;
}
template <class T>
T& value_in(indirect<T>& held) {
  return *held;
}

}  // namespace detail
}  // namespace levada
