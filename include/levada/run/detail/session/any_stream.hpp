// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/session/any_stream.hpp: a stream whose pipeline is known by its item types alone. The range stays a type
// of the caller and is read through one virtual call an item. See run/any_pipeline.hpp, which starts it.

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/result.hpp>
#include <levada/run/detail/measure/observed_calls.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/session/input_iterator.hpp>

namespace levada {
namespace detail {

/// Where a stream gets its items from. Only the thread that iterates asks.
template <class In>
class feed_interface {
 public:
  virtual ~feed_interface() = default;
  virtual bool exhausted() = 0;
  /// The item that is next, where its elements are items that stay where they are as long as the stream; else null.
  virtual const In* item() = 0;
  virtual In make() = 0;
  virtual void advance() = 0;
};

/// What `begin` and `end` say of a range, as in a range-based `for`.
struct range_ends {
  template <class Range>
  static auto begin_of(Range& range) {
    using std::begin;
    return begin(range);
  }
  template <class Range>
  static auto end_of(Range& range) {
    using std::end;
    return end(range);
  }
};

/// A range whose elements are items, or become items.
template <class Range, class In>
concept feeds = requires(std::remove_reference_t<Range>& r) {
  range_ends::end_of(r);
  requires std::constructible_from<In, decltype(*range_ends::begin_of(r))>;
};

/// Keeps what it is given as an rvalue, refers to the rest.
template <class In, class Range>
class any_feed final : public feed_interface<In>, range_ends {
  using iterator = decltype(range_ends::begin_of(std::declval<std::remove_reference_t<Range>&>()));
  using element = decltype(*std::declval<iterator&>());

 public:
  /// Its elements are items that stay where they are.
  static constexpr bool lasting = std::forward_iterator<iterator> && std::is_lvalue_reference_v<element> &&
                                  std::same_as<std::remove_cvref_t<element>, In>;

  explicit any_feed(Range&& range) : range_(std::forward<Range>(range)) {}

  bool exhausted() override {
    if (!at_) at_.emplace(begin_of(range_));
    return *at_ == end_of(range_);
  }
  const In* item() override {
    if constexpr (lasting)
      return std::addressof(**at_);
    else
      return nullptr;
  }
  In make() override { return In(**at_); }
  void advance() override { ++*at_; }

 private:
  Range range_;
  std::optional<iterator> at_;
};

template <class Out>
using stream_result = typename std::conditional_t<std::is_void_v<Out>, std::type_identity<result<void>>,
                                                  std::type_identity<result<std::add_lvalue_reference_t<Out>>>>::type;

template <class Out>
class stream_interface {
 public:
  virtual ~stream_interface() = default;
  /// The next result, valid until the next call; null at the end.
  virtual stream_result<Out>* next() = 0;
  virtual item_counts counts() = 0;
  virtual void measure(bool on) = 0;
  virtual session_statistics statistics() = 0;
  virtual void trace(std::size_t events) = 0;
  virtual session_trace traced() = 0;
};

}  // namespace detail

/// The results of a range's items, in order, as an input range: run/detail/session/stream.hpp says how they come.
template <class Out>
class any_stream : public detail::observed_calls<any_stream<Out>> {
 public:
  using result_type = detail::stream_result<Out>;

  explicit any_stream(std::unique_ptr<detail::stream_interface<Out>> of) : of_(std::move(of)) {}

  class iterator : public detail::input_iterator {
   public:
    using value_type = result_type;

    iterator() = default;
    explicit iterator(detail::stream_interface<Out>* of) : of_(of), at_(of->next()) {}

    result_type& operator*() const { return *at_; }
    result_type* operator->() const { return at_; }
    iterator& operator++() {
      at_ = of_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return at_ == nullptr; }

   private:
    detail::stream_interface<Out>* of_ = nullptr;
    result_type* at_ = nullptr;
  };

  /// To be called once. Starts the stream.
  iterator begin() { return iterator(of_.get()); }
  std::default_sentinel_t end() const { return {}; }

 private:
  friend detail::observed_calls<any_stream>;
  auto& observed() const { return *of_; }

  std::unique_ptr<detail::stream_interface<Out>> of_;
};

}  // namespace levada
