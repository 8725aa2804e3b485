// SPDX-License-Identifier: Apache-2.0
#pragma once
// run/detail/deploy/executable.hpp: what `deploy` returns. The typed interface of an erased deployment: all code whose
// type holds the whole pipeline is inlined away.

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <levada/core/detail/clock.hpp>
#include <levada/core/detail/result.hpp>
#include <levada/graph/detail/mistake.hpp>
#include <levada/run/any_pipeline.hpp>
#include <levada/run/detail/deploy/erased_pipeline.hpp>
#include <levada/run/detail/program/params.hpp>
#include <levada/run/detail/session/deployment.hpp>
#include <levada/run/detail/session/inline_call.hpp>
#include <levada/run/detail/session/session.hpp>
#include <levada/run/detail/session/stream.hpp>

namespace levada {
namespace detail {

/// A deployment, and what its typed interface needs beside it.
template <class Executor>
struct deployed : deployment<Executor> {
  using deployment<Executor>::deployment;
  inline_contexts contexts{this->code};
};

/// Iterates to the end; throws the first failure there.
template <class Stream>
item_counts run_to_end(Stream& results) {
  std::exception_ptr first;
  for (auto& r : results)
    if (!r && !first) first = r.error();
  if (first) std::rethrow_exception(first);
  return results.counts();
}

/// One item through a context of inline calls; what a stage throws is thrown here.
template <class In, class Executor, class Given>
item_state run_inline(deployed<Executor>& app, inline_context& context, Given&& given) {
  const void* item = std::addressof(given);
  if constexpr (std::constructible_from<In, Given>)  // else the pipeline owns none, or the call would not compile
    if (app.code.owns_input) item = ::new (context.input()) In(std::forward<Given>(given));
  const item_state state = context.run(item);
  if (state == item_state::failed) {
    const std::exception_ptr failure = context.error();
    context.forget_error();
    std::rethrow_exception(failure);
  }
  return state;
}

/// One item on the calling thread.
template <class In, class Out, bool Filters, class Executor, class Given>
std::conditional_t<Filters && !std::is_void_v<Out>, std::optional<Out>, Out> call_inline(deployed<Executor>& app,
                                                                                         Given&& given) {
  const inline_contexts::lease context(app.contexts);
  [[maybe_unused]] const item_state state = run_inline<In>(app, *context, std::forward<Given>(given));
  if constexpr (!std::is_void_v<Out>) {
    if constexpr (Filters)
      if (state == item_state::filtered) return std::nullopt;
    struct destroyed_at_end {
      Out* value;
      ~destroyed_at_end() { std::destroy_at(value); }
    } const result{static_cast<Out*>(context->result())};
    return std::move(*result.value);
  }
}

/// The same, its result written to `into`. False where the item is filtered.
template <class In, class Out, class Executor, class Given>
bool call_inline_into(deployed<Executor>& app, Given&& given, Out& into) {
  const inline_contexts::lease context(app.contexts);
  const inline_context::redirection to(*context, std::addressof(into));
  return run_inline<In>(app, *context, std::forward<Given>(given)) == item_state::value;
}

/// Through devices: a session of one item.
template <class In, class Out, class Executor, class Given>
bool call_through_into(std::shared_ptr<deployed<Executor>> app, Given&& given, Out& into) {
  session_settings settings;
  settings.external_results = settings.is_one_item = true;
  session<In, Out&, Executor> once(std::move(app), {}, settings);
  once.push(std::forward<Given>(given), into);
  once.close();
  const std::optional<result<Out&>> out = once.pop();
  if (out) out->value();
  return out.has_value();
}
template <class In, class Out, bool Filters, class Executor, class Given>
std::conditional_t<Filters && !std::is_void_v<Out>, std::optional<Out>, Out> call_through(
    std::shared_ptr<deployed<Executor>> app, Given&& given) {
  session_settings settings;
  settings.is_one_item = true;
  session<In, Out, Executor> once(std::move(app), {}, settings);
  once.push(std::forward<Given>(given));
  once.close();
  std::optional<popped_result<Out>> out = once.pop();
  if constexpr (std::is_void_v<Out>) {
    if (out) out->value();
  } else {
    if constexpr (Filters)
      if (!out) return std::nullopt;
    return std::move(*out).value();
  }
}

/// What an executable does without the types of its stages.
template <class In, class Out, bool Filters, bool OnDevices, class Executor>
struct app_of_items {
  using deployment = deployed<Executor>;
  using executor = Executor;
  using result = std::conditional_t<Filters && !std::is_void_v<Out>, std::optional<Out>, Out>;

  template <class Given>
  static result call(const std::shared_ptr<deployment>& app, Given&& given) {
    if constexpr (OnDevices)
      return call_through<In, Out, Filters>(app, std::forward<Given>(given));
    else
      return call_inline<In, Out, Filters>(*app, std::forward<Given>(given));
  }
};

/// The first mistake in the options of a session of an app, which may promise its time (run/promises.hpp).
template <class Types, class... Options>
consteval auto mistake_of_session() {
  using in = typename Types::input_item;
  using out = typename Types::output_item;
  if constexpr (Types::has_source)
    return pipeline_with_a_source_is_run_or_streamed_not_opened{};
  else if constexpr (requires { typename Types::promises; })
    return Types::promises::template session_mistake<in, out, Types::changes_rate, Options...>();
  else
    return app_session_mistake<in, out, Types::changes_rate, Options...>();
}
template <class Types, class... Options>
consteval session_settings settings_of_session() {
  if constexpr (requires { typename Types::promises; })
    return Types::promises::template settings<typename Types::input_item, Options...>();
  else
    return settings_for<typename Types::input_item, Options...>();
}

template <class Types>
inline constexpr bool promises_latency = false;
template <class Types>
  requires(requires { typename Types::promises; } && Types::promises::latency_promised != duration{})
inline constexpr bool promises_latency<Types> = true;
/// Streams know no option but `on_late`, where a latency is promised.
template <class Types, class Option>
consteval auto mistake_of_stream() {
  if constexpr (promises_latency<Types> && hears_late<Option>)
    return no_mistake{};
  else if constexpr (!Types::has_source && decltype(mistake_of_session<Types, Option>())::is_mistake)
    return mistake_of_session<Types, Option>();
  else
    return session_has_no_such_option<Option>{};
}
template <class Types, class... Options>
consteval bool watches_stream() {
  if constexpr (promises_latency<Types>)
    return Types::promises::template watches<Options...>;
  else
    return false;
}

/// What is wrong with `any_pipeline<Result(In)>` of an executable, if anything.
template <class Signature>
struct erasure;
template <class Result, class In>
struct erasure<Result(In)> {
  template <class App, class Types>
  static consteval auto mistake() {
    if constexpr (Types::has_source)
      return any_pipeline_cannot_hold_a_source{};
    else if constexpr (Types::changes_rate)
      return any_pipeline_cannot_hold_a_pipeline_that_changes_its_rate{};
    else if constexpr (!std::same_as<In, typename Types::input_item> ||
                       !(std::same_as<Result, typename App::result> ||
                         std::same_as<Result, std::optional<typename App::result>>))
      return any_pipeline_has_another_signature<wants<Result(In)>,
                                                gives<typename App::result(typename Types::input_item)>>{};
    else
      return no_mistake{};
  }
  template <class App, class Types>
  static auto make(const std::shared_ptr<typename App::deployment>& app) {
    if constexpr (promises_latency<Types>)
      return Types::promises::template erased<Result, In, App>(app);
    else
      return std::make_shared<erased_pipeline<Result, In, App>>(app);
  }
};

}  // namespace detail

/// A deployed pipeline: the plan and the weights, immutable. `Types` holds the pipeline's types and its plan as a
/// constant.
template <class Types, class Executor>
class executable {
 public:
  using types = Types;
  using item = typename Types::input_item;
  using output = typename Types::output_item;
  /// What is wrong with the options of a session, if anything.
  template <class... Options>
  using session_mistake = decltype(detail::mistake_of_session<Types, Options...>());
  template <class Option>
  using stream_mistake = decltype(detail::mistake_of_stream<Types, Option>());

  /// What was decided while compiling.
  static constexpr const auto& plan = Types::plan;

  [[gnu::always_inline]] explicit executable(std::shared_ptr<detail::deployed<Executor>> app,
                                             typename Types::source_callable source)
      : app_(std::move(app)) {
    if constexpr (Types::has_source) source_ = std::make_shared<typename Types::source_callable>(std::move(source));
  }
  [[gnu::always_inline]] executable(const executable&) = default;
  [[gnu::always_inline]] executable(executable&&) = default;
  [[gnu::always_inline]] executable& operator=(const executable&) = default;
  [[gnu::always_inline]] executable& operator=(executable&&) = default;
  [[gnu::always_inline]] ~executable() = default;

  /// One item on the calling thread. Throws what its stage throws; `optional` where the pipeline filters; not for
  /// results larger than `largest_result_by_value`. Thread-safe; calls of a pipeline with stage state take turns on one
  /// state.
  ///
  /// Where the rate changes and each item gives one result, or the plan has devices, a call is a session of one item,
  /// with states of its own: what a branch has begun ends with it.
  [[gnu::always_inline]] auto operator()(const item& given) const
    requires(!Types::has_source && Types::gives_one_each && !detail::is_large_result<output> &&
             (!Types::owns_input || std::copy_constructible<item>))
  {
    return call(given);
  }
  [[gnu::always_inline]] auto operator()(item&& given) const
    requires(!Types::has_source && Types::gives_one_each && !detail::is_large_result<output>)
  {
    return call(std::move(given));
  }

  /// The same, its result written to `into`, which is not touched before the last stage; for results that need no
  /// destruction. False where the item is filtered.
  template <class Result>
    requires(!Types::has_source && Types::gives_one_each && std::same_as<Result, output> &&
             std::is_trivially_destructible_v<Result> && (!Types::owns_input || std::copy_constructible<item>))
  [[gnu::always_inline]] bool operator()(const item& given, Result& into) const {
    return call_into(given, into);
  }
  template <class Result>
    requires(!Types::has_source && Types::gives_one_each && std::same_as<Result, output> &&
             std::is_trivially_destructible_v<Result>)
  [[gnu::always_inline]] bool operator()(item&& given, Result& into) const {
    return call_into(std::move(given), into);
  }

  /// For another item: deduced and never defined, since clang would go on to convert a type that is incomplete.
  template <detail::no_item_of<item> Given,
            class Mistake = pipeline_takes_another_item<detail::wants_item<item>, gives<Given>>>
    requires(!Types::has_source)
  auto operator()(const Given& given) const;
  template <class Mistake = item_cannot_be_copied_move_it_in<item>>
  auto operator()(const item& given) const
    requires(!Types::has_source && Types::gives_one_each && !detail::is_large_result<output> && Types::owns_input &&
             !std::copy_constructible<item>);
  mistake_found<
      large_result_is_written_to_a_place_given_to_the_call_or_streamed_or_opened_with_external_results<output>>
  operator()(const item& given) const
    requires(!Types::has_source && Types::gives_one_each && detail::is_large_result<output>);
  mistake_found<pipeline_that_changes_its_rate_is_streamed_or_pushed_to_not_called> operator()(const item& given) const
    requires(!Types::gives_one_each);

  /// Many items, pipelined: an input range of `result`s in input order. Elements of a forward range of items are used
  /// where they are. `stop` gives up what is not finished.
  template <class Range>
    requires(!Types::has_source && !detail::is_late_option<Range>) &&
            detail::range_of_items<std::remove_reference_t<Range>, item>
  [[gnu::always_inline]] auto stream(Range&& range, std::stop_token stop = {}) const {
    using feed = detail::range_feed<item, Range&&>;
    return streamed(feed(std::forward<Range>(range)), std::move(stop));
  }
  /// The same, with `on_late` (run/promises.hpp).
  template <class Option, class Range>
    requires(!Types::has_source) && detail::range_of_items<std::remove_reference_t<Range>, item> &&
            correct<stream_mistake<Option>>
  [[gnu::always_inline]] auto stream(Range&& range, std::stop_token stop = {}) const {
    using feed = detail::range_feed<item, Range&&>;
    return streamed<feed, Option>(feed(std::forward<Range>(range)), std::move(stop));
  }
  template <class Option, class Range>
    requires(!Types::has_source && stream_mistake<Option>::is_mistake)
  mistake_found<stream_mistake<Option>> stream(Range&& range, std::stop_token = {}) const;

  template <class Range>
    requires(!Types::has_source && !detail::is_late_option<Range>) &&
            (!detail::range_of_items<std::remove_reference_t<Range>, item>)
  mistake_found<pipeline_streams_a_range_of_its_items<
      detail::wants_item<item>, gives<std::remove_cvref_t<Range>>>> stream(Range&& range, std::stop_token = {}) const;

  /// The items of the pipeline's own source. The source is shared by all streams of the app: one at a time.
  [[gnu::always_inline]] auto stream(std::stop_token stop = {})
    requires Types::has_source
  {
    using feed = detail::source_feed<item, typename Types::source_callable>;
    return streamed(feed(source_), std::move(stop));
  }
  /// The same, with `on_late` (run/promises.hpp).
  template <class Option>
    requires(Types::has_source && correct<stream_mistake<Option>>)
  [[gnu::always_inline]] auto stream(std::stop_token stop = {}) {
    using feed = detail::source_feed<item, typename Types::source_callable>;
    return streamed<feed, Option>(feed(source_), std::move(stop));
  }
  template <class Option>
    requires(Types::has_source && stream_mistake<Option>::is_mistake)
  mistake_found<stream_mistake<Option>> stream(std::stop_token = {});

  /// Runs a stream to its end for what its stages do, and says what became of the items. Throws the first failure at
  /// the end.
  template <class... Arguments>
  [[gnu::always_inline]] item_counts run(Arguments&&... arguments) {
    auto results = stream(std::forward<Arguments>(arguments)...);
    return detail::run_to_end(results);
  }

  /// A session: push and pop, with the options of run/detail/program/session_options.hpp.
  template <class... Options>
    requires correct<session_mistake<Options...>>
  [[gnu::always_inline]] auto open(std::stop_token stop = {}) const {
    return session<item, popped<Options...>, Executor>(app_, std::move(stop),
                                                       detail::settings_of_session<Types, Options...>());
  }
  /// As `open()`, with a deadline that was not known when the program was compiled.
  friend auto open_with_deadline(const executable& app, std::chrono::nanoseconds deadline) {
    detail::session_settings settings = detail::settings_of_session<Types>();
    settings.deadline = deadline;
    return session<item, popped<>, Executor>(app.app_, {}, settings);
  }
  /// The same in the time of `clock`, which outlives the session.
  template <class... Options>
    requires correct<session_mistake<Options...>>
  [[gnu::always_inline]] auto open(const virtual_clock& clock, std::stop_token stop = {}) const {
    detail::session_settings settings = detail::settings_of_session<Types, Options...>();
    settings.clock = &clock;
    return session<item, popped<Options...>, Executor>(app_, std::move(stop), settings);
  }
  template <class... Options>
    requires(session_mistake<Options...>::is_mistake)
  mistake_found<session_mistake<Options...>> open(std::stop_token = {}) const;

  /// The parameters of the stages in `lv::params<Group>(...)`.
  template <fixed_string Group>
    requires(!std::is_void_v<typename Types::template flat_of_group<Group>>)
  [[gnu::always_inline]] auto params() const {
    return parameter_group<typename Types::template flat_of_group<Group>, Group>(
        Types::template board_of_group<Group>(*app_));
  }
  template <fixed_string Group>
    requires(std::is_void_v<typename Types::template flat_of_group<Group>>)
  mistake_found<pipeline_has_no_parameters_of_that_name<Group>> params() const;

  /// Runs some copies of `sample`, or items that it makes as a callable, and puts what they take beside the plan and
  /// its budgets; throws what a stage throws. Of an app that promises its time (run/promises.hpp).
  template <class Sample, class Of = Types>
    requires(!Of::has_source && requires { typename Of::promises; })
  [[gnu::always_inline]] auto verify(const Sample& sample, std::size_t items = 32) const {
    return Of::promises::verify(*this, sample, items);
  }

  /// Sessions and streams that begin from now on measure themselves from their start, or do not: `statistics()` of
  /// each.
  [[gnu::always_inline]] void measure(bool on = true) const { app_->measures.store(on); }

  /// What servers keep for its parts on other machines, as this deployment bounds it, device by device; its plan names
  /// the streams.
  [[gnu::always_inline]] detail::fixed_array<deployed_streams> streams_at_servers() const {
    return app_->streams_at_servers();
  }

  /// The same app, known by its item types alone.
  template <class Signature>
  [[gnu::always_inline]] operator any_pipeline<Signature>() const {
    using erasure = detail::erasure<Signature>;
    using mistake = decltype(erasure::template mistake<erased, Types>());
    if constexpr (correct<mistake>)
      return any_pipeline<Signature>(erasure::template make<erased, Types>(app_));
    else
      return mistake_found<mistake>();
  }

 private:
  template <class Feed, class... Options>
  [[gnu::always_inline]] auto streamed(Feed feed, std::stop_token stop) const {
    using stream = item_stream<item, output, Feed, Executor>;
    if constexpr (detail::watches_stream<Types, Options...>())
      return stream(app_, std::move(feed), std::move(stop), Types::promises::template stream_settings<Options...>());
    else
      return stream(app_, std::move(feed), std::move(stop));
  }

  /// What a session gives.
  template <class... Options>
  using popped = std::conditional_t<detail::settings_of<Options...>().external_results,
                                    std::add_lvalue_reference_t<output>, output>;
  using erased = detail::app_of_items<item, output, Types::filters, Types::on_devices, Executor>;

  template <class Given>
  [[gnu::always_inline]] auto call(Given&& given) const {
    return erased::call(app_, std::forward<Given>(given));
  }
  template <class Given, class Result>
  [[gnu::always_inline]] bool call_into(Given&& given, Result& into) const {
    if constexpr (Types::on_devices)
      return detail::call_through_into<item>(app_, std::forward<Given>(given), into);
    else
      return detail::call_inline_into<item>(*app_, std::forward<Given>(given), into);
  }

  std::shared_ptr<detail::deployed<Executor>> app_;
  /// Shared, since streams may outlive the app.
  [[no_unique_address]] std::conditional_t<Types::has_source, std::shared_ptr<typename Types::source_callable>,
                                           typename Types::source_callable>
      source_;
};

}  // namespace levada
