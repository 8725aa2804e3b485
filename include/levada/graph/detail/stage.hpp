// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/stage.hpp: a named callable as a stage. Its forms:
//
//   stage<"n">(f)         Out f(const In&)                 a new item from the old
//                         Out f(In&&)                      consumes the old item (move-only items)
//                         void f(T&)                       in place
//                         std::optional<Out> f(...)        a filter: nullopt drops the item
//   stage<"n", Out>(f)    void f(const In&, Out&)          writes into its destination
//   in_place<"n">(f), sink<"n">(f)                         for generic lambdas, which cannot be probed for these
//   source<"n">(f)        std::optional<T> f()             the first stage; nullopt ends the stream
//   sink<"n">(f)          void f(const In&)                the last stage
//
// A callable may take side data and the item's envelope behind these: graph/detail/side_data.hpp.
// `missed` of a callable: see graph/detail/missing.hpp; retry<n>(f): see graph/detail/retry.hpp.
// A callable with state or captures runs serially and in order, unless it is wrapped in parallel(f); one without runs
// on several items at once, unless it is wrapped in serial(f).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <levada/core/detail/fixed_string.hpp>
#include <levada/graph/detail/form.hpp>
#include <levada/graph/detail/missing.hpp>
#include <levada/graph/detail/op_on.hpp>
#include <levada/graph/detail/side_data.hpp>
#include <levada/graph/op.hpp>

namespace levada {

/// Whether a stage may work on several items at once or takes them one by one in input order.
enum class concurrency : std::uint8_t { parallel, serial };

/// A callable whose concurrency was stated.
template <class F, concurrency Stated>
struct with_concurrency {
  F callable;
};

/// `f` may be called for several items at once, whatever it captures: its state is its own affair.
template <class F>
constexpr auto parallel(F f) {
  return with_concurrency<F, concurrency::parallel>{std::move(f)};
}

/// `f` is called for one item after the other, in order.
template <class F>
constexpr auto serial(F f) {
  return with_concurrency<F, concurrency::serial>{std::move(f)};
}

template <class F, std::size_t Again>
struct retried;

namespace detail {

/// A callable inside a stage.
template <class F>
struct held_callable {
  [[no_unique_address]] F callable;
};

/// One that owns something is moved and destroyed by functions of its own: composing moves every callable once for each
/// `|` behind it, and all of that would be inlined into the function that composes.
template <class F>
  requires(!std::is_trivially_copyable_v<F>)
struct held_callable<F> {
  F callable;

  [[gnu::noinline]] constexpr explicit held_callable(F&& f) : callable(std::move(f)) {}
  [[gnu::noinline]] constexpr held_callable(held_callable&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : callable(std::move(other.callable)) {}
  [[gnu::noinline]] constexpr held_callable(const held_callable& other)
    requires std::is_copy_constructible_v<F>
      : callable(other.callable) {}
  [[gnu::noinline]] constexpr ~held_callable() {}
};

}  // namespace detail

/// Which form was written, where it cannot or need not be read off the signature.
enum class written : std::uint8_t { nothing, in_place, source, sink, destination };

template <fixed_string Name, class F, std::size_t Again, concurrency Concurrency, written Written, class Out>
struct retried_stage;

/// A stage computed by a callable. `Out` is `void` except for a destination stage.
template <fixed_string Name, class F, concurrency Concurrency, written Written = written::nothing, class Out = void>
struct callable_stage : detail::held_callable<F> {
  using callable_type = F;
  using written_output = Out;
  static constexpr auto name = Name;
  static constexpr auto how = Concurrency;
  static constexpr auto form_written = Written;
};

namespace detail {

template <class F>
inline constexpr concurrency natural_concurrency =
    std::is_empty_v<F> || function_pointer<F> ? concurrency::parallel : concurrency::serial;
template <class F, std::size_t Again>
inline constexpr concurrency natural_concurrency<retried<F, Again>> = natural_concurrency<F>;

template <fixed_string Name, written Written, class Out, class F>
[[gnu::always_inline]] constexpr auto make_stage(F&& f) {
  return callable_stage<Name, F, natural_concurrency<F>, Written, Out>{held_callable<F>{std::move(f)}};
}
template <fixed_string Name, written Written, class Out, class F, concurrency Stated>
[[gnu::always_inline]] constexpr auto make_stage(with_concurrency<F, Stated>&& f) {
  return callable_stage<Name, F, Stated, Written, Out>{held_callable<F>{std::move(f.callable)}};
}

/// Of a callable that is called again: in graph/detail/retry.hpp.
template <fixed_string Name, written Written, class Out, class F, std::size_t Again>
constexpr auto make_stage(retried<F, Again>&& f);
template <fixed_string Name, written Written, class Out, class F, std::size_t Again, concurrency Stated>
constexpr auto make_stage(with_concurrency<retried<F, Again>, Stated>&& f);

}  // namespace detail

/// A callable as a stage of that name; its form is read off its signature.
template <fixed_string Name, class F>
[[gnu::always_inline]] constexpr auto stage(F f) {
  return detail::make_stage<Name, written::nothing, void>(std::move(f));
}

/// `void f(const In&, Out&)` as a stage that writes into its destination.
template <fixed_string Name, class Out, class F>
  requires(!std::is_same_v<Out, F>)
[[gnu::always_inline]] constexpr auto stage(F f) {
  return detail::make_stage<Name, written::destination, Out>(std::move(f));
}

/// `void f(T&)` as a stage that changes the item where it lies.
template <fixed_string Name, class F>
[[gnu::always_inline]] constexpr auto in_place(F f) {
  return detail::make_stage<Name, written::in_place, void>(std::move(f));
}

/// `std::optional<T> f()` as the first stage. It is called on one thread only, the one that iterates or runs the
/// pipeline.
template <fixed_string Name, class F>
[[gnu::always_inline]] constexpr auto source(F f) {
  return detail::make_stage<Name, written::source, void>(std::move(f));
}

/// `void f(const In&)` as the last stage.
template <fixed_string Name, class F>
[[gnu::always_inline]] constexpr auto sink(F f) {
  return detail::make_stage<Name, written::sink, void>(std::move(f));
}

template <class T>
inline constexpr bool is_stage = false;
template <fixed_string Name, class F, concurrency C, written W, class Out>
inline constexpr bool is_stage<callable_stage<Name, F, C, W, Out>> = true;
template <fixed_string Name, op Op>
inline constexpr bool is_stage<op_stage<Name, Op>> = true;

namespace detail {

template <fixed_string Before, class In, fixed_string Name, class F, concurrency C, class Out>
consteval auto form_in(type_tag<callable_stage<Name, F, C, written::nothing, Out>>) {
  return form_for<Name, Before, F, In>();
}
template <fixed_string Before, class In, fixed_string Name, class F, concurrency C, class Out>
consteval auto form_in(type_tag<callable_stage<Name, F, C, written::in_place, Out>>) {
  if constexpr (member_pointer<F>)
    return member_pointer_mistake<Name, F>{};
  else if constexpr (std::is_invocable_v<F&, In&>)
    return call_form<form::in_place, In>{};
  else
    return in_place_stage_cannot_be_called_with_a_reference_to_the_item<Name, In>{};
}
template <fixed_string Before, class In, fixed_string Name, class F, concurrency C, class Out>
consteval auto form_in(type_tag<callable_stage<Name, F, C, written::sink, Out>>) {
  if constexpr (member_pointer<F>)
    return member_pointer_mistake<Name, F>{};
  else if constexpr (std::is_invocable_v<F&, const In&>)
    return call_form<form::sink, void>{};
  else
    return sink_cannot_be_called_with_the_item<Name, In>{};
}
/// `f(in, out)`, or `f(in, out, side...)` where side data follows.
template <class F, class In, class Out, class... Sides>
consteval bool invocable_with(type_list<Sides...>) {
  return std::is_invocable_v<F&, In, Out, Sides...>;
}
template <class F, class In, class Out>
inline constexpr bool takes_in_and_out = invocable_with<F, In, Out>(typename sides_of<F, form::destination>::type{});
template <fixed_string Stage, class... Sides>
consteval auto mistaken_sides(type_list<Sides...>) {
  if constexpr (sizeof...(Sides) > 0)
    return mistaken_side<Stage, Sides...>();
  else
    return no_mistake{};
}
template <fixed_string Stage, class F>
consteval auto mistaken_destination_sides() {
  return mistaken_sides<Stage>(typename sides_of<F, form::destination>::type{});
}
template <fixed_string Before, class In, fixed_string Name, class F, concurrency C, class Out>
consteval auto form_in(type_tag<callable_stage<Name, F, C, written::destination, Out>>) {
  using wrong_side = decltype(mistaken_destination_sides<Name, F>());
  if constexpr (member_pointer<F>)
    return member_pointer_mistake<Name, F>{};
  else if constexpr (wrong_side::is_mistake)
    return wrong_side{};
  else if constexpr (!takes_in_and_out<F, const In&, Out&>)
    return destination_stage_cannot_be_called_with_input_and_output<Name, In, Out>{};
  else if constexpr (!std::is_default_constructible_v<Out>)
    return output_of_a_destination_stage_has_no_default_constructor<Name, Out>{};
  else
    return call_form<form::destination, Out>{};
}
template <fixed_string Before, class In, fixed_string Name, class F, concurrency C, class Out>
consteval auto form_in(type_tag<callable_stage<Name, F, C, written::source, Out>>) {
  return source_is_not_the_first_stage<Before, Name>{};
}

template <std::size_t N>
consteval auto as_fixed_string(std::string_view text) {
  char characters[N + 1]{};
  std::copy_n(text.data(), N, characters);
  return fixed_string<N + 1>(characters);
}

/// What an op, and its kernel, takes for what flows: behind a fork the tuple of its branches' items
/// (graph/detail/join.hpp).
template <class In>
struct op_input : type_tag<In> {};
template <class In>
using op_input_t = typename op_input<In>::type;

/// Of an op that holds pipelines, which may be wrong: graph/detail/nested.hpp.
template <class Op, class In, class Mistake>
consteval auto op_form() {
  if constexpr (Mistake::is_mistake)
    return Mistake{};
  else
    return call_form<form::op, flowing_output<In, Op>>{};
}

template <fixed_string Before, class In, fixed_string Name, op Op>
consteval auto form_in(type_tag<op_stage<Name, Op>>) {
  using in = op_input_t<In>;
  if constexpr (op_takes_flowing<Op, in>) {
    if constexpr (requires { Op::template mistake_in<item_of<in, Op>>(); })
      return op_form<Op, in, decltype(Op::template mistake_in<item_of<in, Op>>())>();
    else
      return call_form<form::op, flowing_output<in, Op>>{};
  } else
    return stage_cannot_take_what_the_one_before_gives<
        Before, gives_item<In>, Name, wants<expects<as_fixed_string<Op::expects.size()>(Op::expects)>>>{};
}

/// The item type of a source, or the mistake.
template <fixed_string Name, class F>
consteval auto form_of_source() {
  if constexpr (!std::is_invocable_v<F&>)
    return source_does_not_return_an_optional_item<Name>{};
  else if constexpr (is_optional<std::remove_cvref_t<std::invoke_result_t<F&>>>)
    return call_form<form::source, typename std::remove_cvref_t<std::invoke_result_t<F&>>::value_type>{};
  else
    return source_does_not_return_an_optional_item<Name>{};
}

}  // namespace detail

namespace detail {
/// In graph/detail/retry.hpp.
template <fixed_string Before, class In, fixed_string Name, class F, std::size_t Again, concurrency C, written W,
          class Out>
consteval auto form_in(type_tag<retried_stage<Name, F, Again, C, W, Out>>);
}  // namespace detail

/// The form in which a stage takes items of type `In` that the stage called `Before` gives, or the mistake.
template <class Stage, fixed_string Before, class In>
using stage_form = decltype(detail::form_in<Before, In>(type_tag<Stage>{}));

}  // namespace levada
