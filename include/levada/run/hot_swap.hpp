// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/hot_swap.hpp: a pipeline that is replaced while items stream through it. What was pushed before a swap finishes
// on the old pipeline, what is pushed after it goes to the new one, and results come out in input order.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/core/detail/storage.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/deploy/session_chain.hpp>
#include <levada/run/detail/deploy/swap_point.hpp>
#include <levada/run/detail/measure/statistics.hpp>
#include <levada/run/detail/measure/trace_log.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/any_session.hpp>
#include <levada/run/detail/session/forwarded_session.hpp>
#include <levada/run/detail/session/push_result.hpp>

namespace levada {

template <class Signature>
class hot_swap;

namespace detail {

/// A session that follows the current pipeline.
template <class Signature>
class following_session final
    : public forwarded_session<typename any_pipeline<Signature>::item, typename any_pipeline<Signature>::output,
                               session_chain<Signature>> {
  using in = typename any_pipeline<Signature>::item;
  using popped = std::optional<popped_result<typename any_pipeline<Signature>::output>>;
  using time_point = std::chrono::steady_clock::time_point;
  using following_session::forwarded_session::of_;

 public:
  following_session(std::shared_ptr<swap_point<Signature>> point, const typename session_chain<Signature>::opener& how)
      : following_session::forwarded_session(std::move(point), how) {}

  push_result push(given_item<in> item, time_point captured) override { return of_.push(item, captured); }
  push_result try_push(given_item<in> item, time_point captured) override { return of_.try_push(item, captured); }
  popped pop(item_envelope* envelope) override {
    item_envelope unasked;
    return of_.pop(envelope != nullptr ? *envelope : unasked);
  }
  popped try_pop(item_envelope* envelope) override {
    item_envelope unasked;
    return of_.try_pop(envelope != nullptr ? *envelope : unasked);
  }
  void on_error(owner<failure_listener> listener) override { of_.on_error(std::move(listener)); }
};

}  // namespace detail

/// A current pipeline, and sessions that follow it. Thread-safe; copies share the pipeline.
template <class Result, class In>
class hot_swap<Result(In)> {
 public:
  using pipeline = any_pipeline<Result(In)>;
  using item = In;
  using output = typename pipeline::output;

  explicit hot_swap(pipeline first) : point_(std::make_shared<detail::swap_point<Result(In)>>(std::move(first))) {}

  /// From now on `next` takes what is pushed.
  void swap(pipeline next) { point_->swap(std::move(next)); }
  pipeline current() const { return point_->current().first; }

  /// One item on the calling thread, by the pipeline that is current when it is called.
  Result operator()(In&& given) const
    requires(!detail::is_large_result<output>)
  {
    return current()(std::move(given));
  }
  mistake_found<large_result_of_any_pipeline_is_streamed_or_popped<output>> operator()(const In& given) const
    requires detail::is_large_result<output>;
  Result operator()(const In& given) const
    requires(std::copy_constructible<In> && !detail::is_large_result<output>)
  {
    return current()(given);
  }

  /// A session of whatever pipeline is current, with the options of run/detail/program/session_options.hpp; it opens
  /// one of the new pipeline with them at the first push behind a swap. The old pipeline lives until all that was
  /// pushed into it is popped. Stage state does not go over.
  ///
  /// Where there was another swap before that a push waits for the thread that pops, as into a full pipeline; one
  /// thread that does both goes on at once, and each pipeline keeps its slots until its results are popped. In a
  /// session whose push does not wait the pipeline before takes the item.
  ///
  /// Sequence numbers and `counts` go on across swaps; `statistics` and `traced` are of the newest pipeline, whose
  /// stages may be others; `reset` gives that its first state back, and is called by the pushing thread.
  template <class... Options>
    requires correct<decltype(detail::erased_session_mistake<In, output, Options...>())>
  any_session<In, output> open() const {
    using opener = typename detail::session_chain<Result(In)>::opener;
    return any_session<In, output>(std::make_unique<detail::following_session<Result(In)>>(
        point_, opener{[](const pipeline& of) { return of.template open<Options...>(); },
                       detail::settings_of<Options...>().waits_when_full()}));
  }
  template <class... Options>
    requires(decltype(detail::erased_session_mistake<In, output, Options...>())::is_mistake)
  mistake_found<decltype(detail::erased_session_mistake<In, output, Options...>())> open() const;

 private:
  std::shared_ptr<detail::swap_point<Result(In)>> point_;
};

}  // namespace levada
