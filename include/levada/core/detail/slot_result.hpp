// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/detail/slot_result.hpp: a result too large for a stack, handed out where it lies.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <levada/core/detail/exchange.hpp>
#include <levada/core/detail/result.hpp>

namespace levada {

/// A result that is larger has no place on a stack, 8 MiB for a thread as a rule: nothing returns it by value.
inline constexpr std::size_t largest_result_by_value = std::size_t{1} << 20;

namespace detail {

template <class Out>
inline constexpr bool is_large_result = sizeof(Out) > largest_result_by_value;
template <class Out>
  requires(std::is_void_v<Out> || std::is_reference_v<Out>)
inline constexpr bool is_large_result<Out> = false;

/// Frees the slots of results that were handed out where they lie.
class slot_holder {
 public:
  virtual void leave_slot(std::uint64_t item) noexcept = 0;

 protected:
  ~slot_holder() = default;
};

}  // namespace detail

/// A value that stays in its slot or an exception, used as a `result<T>`. Where it ends the value ends and the slot is
/// free, in the order of items: so many can be held as there are slots. It is the popping thread's, and ends before the
/// session does.
template <class T>
class [[nodiscard]] slot_result {
 public:
  using value_type = T;

  slot_result(T& value, detail::slot_holder& of, std::uint64_t item) : value_(&value), of_(&of), item_(item) {}
  explicit slot_result(std::exception_ptr error) : error_(std::move(error)) {}
  slot_result(slot_result&& other) noexcept
      : value_(detail::exchange_value(other.value_, nullptr)),
        of_(other.of_),
        item_(other.item_),
        error_(std::move(other.error_)) {}
  slot_result& operator=(slot_result&& other) noexcept {
    slot_result taken(std::move(other));
    detail::swap_values(value_, taken.value_);
    detail::swap_values(of_, taken.of_);
    detail::swap_values(item_, taken.item_);
    detail::swap_values(error_, taken.error_);
    return *this;
  }
  ~slot_result() {
    if (value_ != nullptr) of_->leave_slot(item_);
  }

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return value_; }
  const T* operator->() const { return value_; }

  T& value() & { return rethrow(), *value_; }
  const T& value() const& { return rethrow(), *value_; }
  T&& value() && { return rethrow(), std::move(*value_); }

  /// The exception, or null where there is a value.
  std::exception_ptr error() const { return error_; }

 private:
  void rethrow() const {
    if (value_ == nullptr) std::rethrow_exception(error_);
  }

  T* value_ = nullptr;
  detail::slot_holder* of_ = nullptr;
  std::uint64_t item_ = 0;
  std::exception_ptr error_;
};

/// What is popped of an item: its result by value, or where it lies where that is larger than
/// `largest_result_by_value`.
template <class Out>
using popped_result = std::conditional_t<detail::is_large_result<Out>, slot_result<Out>, result<Out>>;

}  // namespace levada
