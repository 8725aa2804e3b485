// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/any_session.hpp: a session whose pipeline is known by its item types alone. See run/any_pipeline.hpp, which opens it.

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

#include <levada/core/result.hpp>
#include <levada/run/item_counts.hpp>

namespace levada {
namespace detail {

/// An item that a caller gives: to be moved from, or to be copied.
template <class In>
class given_item {
 public:
  given_item(In&& item) : moved_(std::addressof(item)) {}
  given_item(const In& item)
    requires std::copy_constructible<In>
      : copied_(std::addressof(item)) {}

  /// Calls `take` with the item, as the caller gave it.
  template <class Take>
  decltype(auto) give_to(Take take) const {
    if constexpr (std::copy_constructible<In>)
      if (copied_ != nullptr) return take(*copied_);
    return take(std::move(*moved_));
  }

 private:
  In* moved_ = nullptr;
  const In* copied_ = nullptr;
};

/// What a session does, erased once per call.
template <class In, class Out>
class session_interface {
 public:
  virtual ~session_interface() = default;
  virtual void push(given_item<In> item) = 0;
  virtual bool try_push(given_item<In> item) = 0;
  virtual std::optional<result<Out>> pop() = 0;
  virtual std::optional<result<Out>> try_pop() = 0;
  virtual void close() = 0;
  virtual void drain() = 0;
  virtual void cancel() = 0;
  virtual bool is_over() = 0;
  virtual item_counts counts() = 0;
};

}  // namespace detail

/// One running instance of an any_pipeline: run/session.hpp says what each call does.
template <class In, class Out>
class any_session {
 public:
  using item = In;
  using output = Out;

  explicit any_session(std::unique_ptr<detail::session_interface<In, Out>> of) : of_(std::move(of)) {}

  void push(In&& given) { of_->push(std::move(given)); }
  void push(const In& given)
    requires std::copy_constructible<In>
  {
    of_->push(given);
  }
  bool try_push(In&& given) { return of_->try_push(std::move(given)); }
  bool try_push(const In& given)
    requires std::copy_constructible<In>
  {
    return of_->try_push(given);
  }
  std::optional<result<Out>> pop() { return of_->pop(); }
  std::optional<result<Out>> try_pop() { return of_->try_pop(); }
  void close() { of_->close(); }
  void drain() { of_->drain(); }
  void cancel() { of_->cancel(); }
  bool is_over() const { return of_->is_over(); }
  item_counts counts() const { return of_->counts(); }

 private:
  std::unique_ptr<detail::session_interface<In, Out>> of_;
};

}  // namespace levada
