// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/erased_pipeline.hpp: what stands behind an any_pipeline, in the unit that defines it. Its types
// name the items and the executor, not the stages, so that no symbol spells out the pipeline.

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <levada/core/detail/storage.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/session/forwarded_session.hpp>
#include <levada/run/detail/session/session.hpp>
#include <levada/run/detail/session/stream.hpp>

namespace levada::detail {

template <class Session>
class erased_session : public forwarded_session<typename Session::item, typename Session::output, Session> {
  using in = typename Session::item;
  using popped = std::optional<popped_result<typename Session::output>>;
  using time_point = typename Session::time_point;
  using erased_session::forwarded_session::of_;

 public:
  explicit erased_session(Session of) : erased_session::forwarded_session(std::move(of)) {}

  push_result push(given_item<in> item, time_point captured) override {
    return item.give_to([&]<class Given>(Given&& given) { return of_.push(std::forward<Given>(given), captured); });
  }
  push_result try_push(given_item<in> item, time_point captured) override {
    return item.give_to([&]<class Given>(Given&& given) { return of_.try_push(std::forward<Given>(given), captured); });
  }
  popped pop(item_envelope* envelope) override { return envelope != nullptr ? of_.pop(*envelope) : of_.pop(); }
  popped try_pop(item_envelope* envelope) override {
    return envelope != nullptr ? of_.try_pop(*envelope) : of_.try_pop();
  }
  void on_error(owner<failure_listener> listener) override {
    of_.on_error([heard = std::move(listener)](std::uint64_t sequence, const std::exception_ptr& why) noexcept {
      heard->failed(sequence, why);
    });
  }
};

/// A feed of the consumer's as a range that is gone through once. Where its items last it says that it is a forward
/// range, so that streams use them where they are.
template <class In, bool Lasting>
class fed_range {
 public:
  explicit fed_range(std::unique_ptr<feed_interface<In>> of) : of_(std::move(of)) {}

  class iterator {
   public:
    using value_type = In;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::conditional_t<Lasting, std::forward_iterator_tag, std::input_iterator_tag>;

    iterator() = default;
    explicit iterator(feed_interface<In>* of) : of_(of) {}
    std::conditional_t<Lasting, const In&, In> operator*() const {
      if constexpr (Lasting)
        return *of_->item();
      else
        return of_->make();
    }
    iterator& operator++() {
      of_->advance();
      return *this;
    }
    iterator operator++(int) {
      ++*this;
      return *this;
    }
    bool operator==(const iterator&) const = default;
    bool operator==(std::default_sentinel_t) const { return of_->exhausted(); }

   private:
    feed_interface<In>* of_ = nullptr;
  };

  iterator begin() { return iterator(of_.get()); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::unique_ptr<feed_interface<In>> of_;
};

template <class Out, class Stream>
class erased_stream final : public stream_interface<Out> {
 public:
  template <class... Arguments>
  explicit erased_stream(Arguments&&... arguments) : of_(std::forward<Arguments>(arguments)...) {}

  stream_result<Out>* next() override {
    if (at_)
      ++*at_;
    else
      at_.emplace(of_.begin());
    return *at_ == of_.end() ? nullptr : std::addressof(**at_);
  }
  item_counts counts() override { return of_.counts(); }
  void measure(bool on) override { of_.measure(on); }
  session_statistics statistics() override { return of_.statistics(); }
  void trace(std::size_t events) override { of_.trace(events); }
  session_trace traced() override { return of_.traced(); }

 private:
  Stream of_;
  std::optional<typename Stream::iterator> at_;
};

/// `App` has the inline call, the executor and what sessions run.
template <class Result, class In, class App>
class erased_pipeline : public pipeline_interface<Result, In> {
 public:
  using output = typename pipeline_interface<Result, In>::output;
  using executor = typename App::executor;

 public:
  explicit erased_pipeline(std::shared_ptr<typename App::deployment> app) : app_(std::move(app)) {}

  Result call(given_item<In> item) override {
    return item.give_to(
        [&]<class Given>(Given&& given) -> Result { return App::call(app_, std::forward<Given>(given)); });
  }
  std::unique_ptr<session_interface<In, output>> open(const session_settings& settings) override {
    using opened = session<In, output, executor>;
    return std::make_unique<erased_session<opened>>(opened(app_, {}, settings));
  }
  std::unique_ptr<stream_interface<output>> stream(std::unique_ptr<feed_interface<In>> feed, bool lasting) override {
    return begin(std::move(feed), lasting);
  }
  bool keeps_state() const noexcept override {
    for (const program_unit& unit : app_->code.units)
      if (unit.serial) return true;
    return false;
  }

 protected:
  template <class... Settings>
  std::unique_ptr<stream_interface<output>> begin(std::unique_ptr<feed_interface<In>> feed, bool lasting,
                                                  const Settings&... settings) {
    if constexpr (std::copy_constructible<In>)
      if (lasting) return start<true>(std::move(feed), settings...);
    return start<false>(std::move(feed), settings...);
  }
  template <bool Lasting, class... Settings>
  std::unique_ptr<stream_interface<output>> start(std::unique_ptr<feed_interface<In>> feed,
                                                  const Settings&... settings) {
    using range = fed_range<In, Lasting>;
    using fed = range_feed<In, range&&>;
    return std::make_unique<erased_stream<output, item_stream<In, output, fed, executor>>>(
        app_, fed(range(std::move(feed))), std::stop_token(), settings...);
  }

  std::shared_ptr<typename App::deployment> app_;
};

}  // namespace levada::detail
