// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/any_session.hpp: a session whose pipeline is known by its item types alone. See
// run/any_pipeline.hpp, which opens it.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/detail/measure/observed_calls.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/session/failure_calls.hpp>
#include <levada/run/detail/session/push_calls.hpp>

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

/// The listener to failed items: a function of the consumer's.
class failure_listener {
 public:
  virtual ~failure_listener() = default;
  virtual void failed(std::uint64_t sequence, const std::exception_ptr& why) noexcept = 0;
};
template <class F>
class failure_function final : public failure_listener {
 public:
  explicit failure_function(F f) : f_(std::move(f)) {}
  void failed(std::uint64_t sequence, const std::exception_ptr& why) noexcept override { f_(sequence, why); }

 private:
  F f_;
};

/// The calls of a session, erased once per call.
template <class In, class Out>
class session_interface {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  virtual ~session_interface() = default;
  virtual push_result push(given_item<In> item, time_point captured) = 0;
  virtual push_result try_push(given_item<In> item, time_point captured) = 0;
  virtual std::optional<popped_result<Out>> pop(item_envelope* envelope) = 0;
  virtual std::optional<popped_result<Out>> try_pop(item_envelope* envelope) = 0;
  virtual std::size_t credits() = 0;
  virtual void close() = 0;
  virtual void drain() = 0;
  virtual void reset() = 0;
  virtual void cancel() = 0;
  virtual void on_error(owner<failure_listener> listener) = 0;
  virtual bool is_over() = 0;
  virtual std::chrono::steady_clock::time_point now() = 0;
  virtual std::optional<std::chrono::steady_clock::time_point> due() = 0;
  virtual item_counts counts() = 0;
  virtual void measure(bool on) = 0;
  virtual session_statistics statistics() = 0;
  virtual void trace(std::size_t events) = 0;
  virtual session_trace traced() = 0;
  virtual void allow_multiple_producers() = 0;
};

}  // namespace detail

/// One running instance of an any_pipeline: run/detail/session/session.hpp says what each call does.
template <class In, class Out>
class any_session : public detail::push_calls<any_session<In, Out>, In>,
                    public detail::failure_calls<any_session<In, Out>>,
                    public detail::observed_calls<any_session<In, Out>> {
 public:
  using item = In;
  using output = Out;
  using time_point = std::chrono::steady_clock::time_point;

  explicit any_session(std::unique_ptr<detail::session_interface<In, Out>> of) : of_(std::move(of)) {}

  std::optional<popped_result<Out>> pop() { return of_->pop(nullptr); }
  std::optional<popped_result<Out>> pop(item_envelope& envelope) { return of_->pop(&envelope); }
  std::optional<popped_result<Out>> try_pop() { return of_->try_pop(nullptr); }
  std::optional<popped_result<Out>> try_pop(item_envelope& envelope) { return of_->try_pop(&envelope); }

  std::size_t credits() const { return of_->credits(); }
  void close() { of_->close(); }
  void drain() { of_->drain(); }
  void reset() { of_->reset(); }
  void cancel() { of_->cancel(); }

  bool is_over() const { return of_->is_over(); }
  time_point now() const { return of_->now(); }
  std::optional<time_point> due() const { return of_->due(); }
  void allow_multiple_producers() { of_->allow_multiple_producers(); }

 private:
  friend detail::push_calls<any_session, In>;
  friend detail::failure_calls<any_session>;
  friend detail::observed_calls<any_session>;

  template <class F>
  void listen(F f) {
    of_->on_error(detail::owner<detail::failure_listener>(new detail::failure_function<F>(std::move(f))));
  }

  push_result push_given(detail::given_item<In> given, time_point captured) { return of_->push(given, captured); }
  push_result try_push_given(detail::given_item<In> given, time_point captured) {
    return of_->try_push(given, captured);
  }
  auto& observed() const { return *of_; }

  std::unique_ptr<detail::session_interface<In, Out>> of_;
};

}  // namespace levada
