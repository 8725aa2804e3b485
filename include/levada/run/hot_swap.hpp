// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/hot_swap.hpp: a pipeline that is replaced while items stream through it. What was pushed before a swap finishes
// on the old pipeline, what is pushed after it goes to the new one, and results come out in input order.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/slot_result.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/deploy/session_chain.hpp>
#include <levada/run/detail/deploy/swap_point.hpp>
#include <levada/run/detail/measure/observed_calls.hpp>
#include <levada/run/detail/program/item_counts.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/any_session.hpp>
#include <levada/run/detail/session/failure_calls.hpp>
#include <levada/run/detail/session/push_calls.hpp>

namespace levada {

template <class Signature>
class hot_swap;

/// One running instance of whatever pipeline is current. Like a session: one thread pushes and one pops at a time; they
/// may be the same. It opens a session of the new pipeline at the first push behind a swap; the old pipeline lives
/// until all that was pushed into it is popped. Stage state does not go over. Where there was another swap before that
/// a push waits for the thread that pops, as into a full pipeline; one thread that does both goes on at once, and each
/// pipeline keeps its slots until its results are popped. In a session whose push does not wait the pipeline before
/// takes the item. Results are popped: callbacks, futures and awaitables are of a session of one pipeline.
/// `counts` are of all pipelines, `statistics` and `traced` of the newest, whose stages may be others.
template <class Signature>
class hot_session : public detail::push_calls<hot_session<Signature>, typename any_pipeline<Signature>::item>,
                    public detail::failure_calls<hot_session<Signature>>,
                    public detail::observed_calls<hot_session<Signature>> {
 public:
  using item = typename any_pipeline<Signature>::item;
  using output = typename any_pipeline<Signature>::output;
  using time_point = std::chrono::steady_clock::time_point;

  hot_session(std::shared_ptr<detail::swap_point<Signature>> point,
              const typename detail::session_chain<Signature>::opener& how)
      : chain_(std::make_unique<detail::session_chain<Signature>>(std::move(point), how)) {}

  /// How many items the next pushes have room for.
  std::size_t credits() const { return chain_->credits(); }
  /// The next result in input order, across swaps. Empty when the session is closed or cancelled and nothing more
  /// comes.
  std::optional<popped_result<output>> pop() {
    item_envelope envelope;
    return pop(envelope);
  }
  /// With its envelope: its number counts on across swaps.
  std::optional<popped_result<output>> pop(item_envelope& envelope) { return chain_->pop(envelope); }
  /// The next result if it is there.
  std::optional<popped_result<output>> try_pop() {
    item_envelope envelope;
    return try_pop(envelope);
  }
  std::optional<popped_result<output>> try_pop(item_envelope& envelope) { return chain_->try_pop(envelope); }
  void close() { chain_->close(); }
  void drain() { chain_->drain(); }
  /// Waits for all that was pushed, and gives the newest pipeline's stages their first state back. Only by the pushing
  /// thread.
  void reset() { chain_->reset(); }
  void cancel() { chain_->cancel(); }

  bool is_over() const { return chain_->is_over(); }
  time_point now() const { return chain_->now(); }
  /// When the first of the pipelines gives the next thing, whatever comes.
  std::optional<time_point> due() const { return chain_->due(); }

 private:
  friend detail::push_calls<hot_session, item>;
  friend detail::failure_calls<hot_session>;
  friend detail::observed_calls<hot_session>;

  template <class F>
  void listen(F f) {
    chain_->on_error(std::make_shared<detail::failure_function<F>>(std::move(f)));
  }
  auto& observed() const { return *chain_; }

  push_result push_given(detail::given_item<item> given, time_point captured) { return chain_->push(given, captured); }
  push_result try_push_given(detail::given_item<item> given, time_point captured) {
    return chain_->try_push(given, captured);
  }

  std::unique_ptr<detail::session_chain<Signature>> chain_;
};

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

  /// A session: push and pop, with the options of run/detail/program/session_options.hpp; those of each pipeline are
  /// opened with them.
  template <class... Options>
    requires correct<decltype(detail::erased_session_mistake<In, output, Options...>())>
  hot_session<Result(In)> open() const {
    return {point_,
            {[](const pipeline& of) { return of.template open<Options...>(); },
             detail::settings_of<Options...>().waits_when_full()}};
  }
  template <class... Options>
    requires(decltype(detail::erased_session_mistake<In, output, Options...>())::is_mistake)
  mistake_found<decltype(detail::erased_session_mistake<In, output, Options...>())> open() const;

 private:
  std::shared_ptr<detail::swap_point<Result(In)>> point_;
};

}  // namespace levada
