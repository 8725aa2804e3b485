// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/any_pipeline.hpp: a deployed pipeline known by its item types alone, so that one translation unit compiles its
// stages and all others see neither them nor oneTBB nor xsimd. An executable converts to it
// (run/detail/deploy/erased_pipeline.hpp).
//
//   any_pipeline<int(picture)> make_classify();             // in a header, for everybody
//   any_pipeline<int(picture)> make_classify() {            // in the one unit that includes <levada/levada.hpp>
//     return deploy<box>(input<picture> | ...);
//   }

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <levada/core/error.hpp>
#include <levada/run/detail/program/session_options.hpp>
#include <levada/run/detail/session/any_session.hpp>
#include <levada/run/detail/session/any_stream.hpp>
#include <levada/run/detail/session/session_handle.hpp>

namespace levada {
namespace detail {

template <class Result>
struct output_of_result : std::type_identity<Result> {};
template <class Out>
struct output_of_result<std::optional<Out>> : std::type_identity<Out> {};

/// What an executable does, erased once per session, stream or inline call.
template <class Result, class In>
class pipeline_interface {
 public:
  using output = typename output_of_result<Result>::type;
  virtual ~pipeline_interface() = default;
  virtual Result call(given_item<In> item) = 0;
  virtual std::unique_ptr<session_interface<In, output>> open(const session_settings& settings) = 0;
  virtual std::unique_ptr<stream_interface<output>> stream(std::unique_ptr<feed_interface<In>> feed, bool lasting) = 0;
  /// What its deployment promises of its latency (run/promises.hpp); null: nothing.
  virtual const watched_latency* promised() const { return nullptr; }
  virtual bool keeps_state() const noexcept = 0;
};

}  // namespace detail

template <class Signature>
class any_pipeline;

/// A deployed pipeline. `Result(In)` is its inline call: `Out(In)`, `std::optional<Out>(In)` where it filters,
/// `void(In)` where it ends in a sink. Cheap to copy; copies share weights and plan. Never empty, unless moved from.
template <class Result, class In>
class any_pipeline<Result(In)> {
 public:
  using item = In;
  using output = typename detail::output_of_result<Result>::type;

  explicit any_pipeline(std::shared_ptr<detail::pipeline_interface<Result, In>> of) : of_(std::move(of)) { check(); }

  /// False where it was moved from: it is destroyed or assigned to, and nothing else.
  explicit operator bool() const noexcept { return of_ != nullptr; }

  /// Some stage works on one item after the other, so that each session has a state, or may have.
  bool keeps_state() const {
    check();
    return of_->keeps_state();
  }

  /// One item on the calling thread. Throws what its stage throws. Not for results larger than
  /// `largest_result_by_value`.
  Result operator()(In&& given) const
    requires(!detail::is_large_result<output>)
  {
    return of_->call(std::move(given));
  }
  mistake_found<large_result_of_any_pipeline_is_streamed_or_popped<output>> operator()(const In& given) const
    requires detail::is_large_result<output>;
  Result operator()(const In& given) const
    requires(std::copy_constructible<In> && !detail::is_large_result<output>)
  {
    return of_->call(given);
  }

  /// Many items, pipelined: an input range of `result`s in input order. Elements of a forward range of items are used
  /// where they are.
  template <class Range>
    requires detail::feeds<Range, In>
  any_stream<output> stream(Range&& range) const {
    check();
    using feed = detail::any_feed<In, Range>;
    return any_stream<output>(of_->stream(std::make_unique<feed>(std::forward<Range>(range)), feed::lasting));
  }

  /// A session: push and pop, with the options of run/detail/program/session_options.hpp.
  template <class... Options>
    requires correct<decltype(detail::erased_session_mistake<In, output, Options...>())>
  any_session<In, output> open() const {
    check();
    if constexpr ((detail::hears_late<Options> || ...))
      if (of_->promised() == nullptr) throw error("levada: any_pipeline: on_late: this pipeline promises no latency");
    return any_session<In, output>(of_->open(detail::settings_of<Options...>()));
  }
  template <class... Options>
    requires(decltype(detail::erased_session_mistake<In, output, Options...>())::is_mistake)
  mistake_found<decltype(detail::erased_session_mistake<In, output, Options...>())> open() const;

 private:
  void check() const {
    if (of_ == nullptr) throw error("levada: any_pipeline: there is no pipeline in it");
  }

  std::shared_ptr<detail::pipeline_interface<Result, In>> of_;
};

}  // namespace levada
