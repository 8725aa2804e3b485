// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/form.hpp: how a callable takes its item. The form is read off the callable's signature; a generic lambda
// is asked for the signature it has for this item, never called with an argument that could break its body.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <levada/core/detail/batch_tensor.hpp>
#include <levada/core/detail/item_envelope.hpp>
#include <levada/core/detail/type_list.hpp>
#include <levada/graph/detail/mistake.hpp>

namespace levada {

/// The ways a stage takes and gives items; see the head of graph/detail/stage.hpp.
enum class form : std::uint8_t { map, consume, in_place, destination, filter, consume_filter, source, sink, op };

namespace detail {

template <class R, class... A>
struct call_signature {
  using result = R;
  using arguments = type_list<A...>;
};

template <class F>
struct signature_of;
template <class R, class... A>
struct signature_of<R (*)(A...)> : type_tag<call_signature<R, A...>> {};
template <class R, class... A>
struct signature_of<R (*)(A...) noexcept> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...)> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) noexcept> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) const> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) const noexcept> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...)&> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) & noexcept> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) const&> : type_tag<call_signature<R, A...>> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) const & noexcept> : type_tag<call_signature<R, A...>> {};

template <class F>
concept function_pointer = std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>;

/// One call operator that is no template: the signature is known without an argument.
template <class F>
concept plain_callable =
    function_pointer<F> || requires { typename signature_of<decltype(&F::operator())>::type::result; };

template <class Signature, class In>
inline constexpr bool takes_just = false;
template <class R, class P, class In>
inline constexpr bool takes_just<call_signature<R, P>, In> = std::same_as<std::remove_cvref_t<P>, In>;

/// A call operator whose template argument is the item's type, as a generic lambda of one `auto` has. (That of
/// `[]<class T>(const std::vector<T>&)` is not: it is asked like an overloaded one.)
template <class F, class In>
concept generic_callable =
    !plain_callable<F> && takes_just<typename signature_of<decltype(&F::template operator()<In>)>::type, In>;

template <class F, class In>
consteval auto signature_for() {
  if constexpr (function_pointer<F>)
    return typename signature_of<F>::type{};
  else if constexpr (plain_callable<F>)
    return typename signature_of<decltype(&F::operator())>::type{};
  else if constexpr (generic_callable<F, In>)
    return typename signature_of<decltype(&F::template operator()<In>)>::type{};
  else
    return call_signature<void>{};
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// Items larger than this are not passed by value.
inline constexpr std::size_t largest_item_by_value = 1024;

/// The item itself, or the tensor that it is as a batch.
template <class In, class T>
concept is_item = std::same_as<In, T> || (is_batch_tensor<In> && std::is_base_of_v<T, In>);

template <class In, class P>
inline constexpr bool converts_to = std::is_convertible_v<const In&, P> || std::is_convertible_v<In&&, P>;
template <class A, class B>
inline constexpr bool both_arithmetic = std::is_arithmetic_v<A> && std::is_arithmetic_v<B>;

/// An item of type `In` can be handed to a parameter of type `P`: the same type, or an implicit conversion such as a
/// view's; never from one arithmetic type to another (TVM computes garbage for a float64 fed into a float32 module).
template <class In, class P>
concept can_be_handed_to =
    std::same_as<In, std::remove_cvref_t<P>> || (!both_arithmetic<In, std::remove_cvref_t<P>> && converts_to<In, P>);

/// A `const In&` cannot be handed to it.
template <class In, class P>
consteval bool needs_rvalue() {
  if constexpr (std::is_reference_v<P> && is_item<In, std::remove_cvref_t<P>>)
    return std::is_rvalue_reference_v<P>;
  else
    return !std::is_convertible_v<const In&, P>;
}

}  // namespace detail

/// A form together with what comes out.
template <form Form, class Out>
struct call_form {
  static constexpr bool is_mistake = false;
  static constexpr form value = Form;
  using output = Out;
};

namespace detail {

/// A map, or a filter where it returns an optional.
template <class R, bool Consumes>
consteval auto returning() {
  using item = std::remove_cvref_t<R>;
  if constexpr (is_optional<item>)
    return call_form<(Consumes ? form::consume_filter : form::filter), typename item::value_type>{};
  else
    return call_form<(Consumes ? form::consume : form::map), item>{};
}

/// The form of `R f(P)` for items of type `In`, or the mistake.
template <fixed_string Stage, fixed_string Before, bool Generic, class In, class R, class P>
consteval auto form_of_call() {
  using item = std::remove_cvref_t<P>;
  constexpr bool changes = std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;
  constexpr bool by_value = !std::is_reference_v<P>;
  if constexpr (changes ? !is_item<In, item> : !can_be_handed_to<In, P>)
    return stage_cannot_take_what_the_one_before_gives<Before, gives_item<In>, Stage, wants_item<P>>{};
  else if constexpr (by_value && sizeof(item) > largest_item_by_value)
    return stage_takes_a_large_item_by_value_write_const_reference<Stage, const item&>{};
  else if constexpr (std::is_void_v<R> && Generic)
    return generic_stage_returns_nothing_write_in_place_or_sink<Stage>{};
  else if constexpr (std::is_void_v<R>) {
    if constexpr (changes)
      return call_form<form::in_place, In>{};
    else if constexpr (!needs_rvalue<In, P>())
      return call_form<form::sink, void>{};
    else
      return sink_cannot_be_called_with_the_item<Stage, In>{};
  } else if constexpr (changes)
    return stage_changes_its_input_and_returns_another_item<Stage, In>{};
  else {
    // An rvalue reference consumes. A by-value item is moved in where a copy would cost or is not possible; a
    // forwarding reference of a generic lambda only where it has to be.
    constexpr bool must_move = needs_rvalue<In, P>();
    constexpr bool consumes =
        Generic && !by_value ? (must_move && !std::is_copy_constructible_v<In>)
                             : must_move || (by_value && std::same_as<item, In> && !std::is_trivially_copyable_v<In>);
    return returning<R, consumes>();
  }
}

template <fixed_string Stage, fixed_string Before, bool Generic, class In, class R, class P>
consteval auto form_of_signature(call_signature<R, P>) {
  return form_of_call<Stage, Before, Generic, In, R, P>();
}

/// A parameter behind the item that attaches side data, or changes what was attached.
template <class P>
inline constexpr bool attaches_side = std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>;
/// One that side data or the item's envelope can be handed to.
template <class P>
inline constexpr bool takes_side =
    std::is_lvalue_reference_v<P> && !std::is_pointer_v<std::remove_cvref_t<P>> &&
    std::is_trivially_copyable_v<std::remove_cvref_t<P>> && std::is_default_constructible_v<std::remove_cvref_t<P>> &&
    !(attaches_side<P> && std::is_same_v<std::remove_cvref_t<P>, item_envelope>);

/// What is wrong with the parameters behind the item, if anything.
template <fixed_string Stage, class First, class... Rest>
consteval auto mistaken_side() {
  if constexpr (!takes_side<First>)
    return stage_takes_beside_its_item_what_is_no_reference_to_plain_data<Stage, First>{};
  else if constexpr (sizeof...(Rest) > 0)
    return mistaken_side<Stage, Rest...>();
  else
    return no_mistake{};
}

/// Side data and the envelope behind the item: graph/detail/side_data.hpp.
template <fixed_string Stage, fixed_string Before, bool Generic, class In, class R, class P, class... Sides>
consteval auto form_of_signature(call_signature<R, P, Sides...>) {
  using call = decltype(form_of_call<Stage, Before, Generic, In, R, P>());
  using wrong_side = decltype(mistaken_side<Stage, Sides...>());
  if constexpr (call::is_mistake)
    return call{};
  else if constexpr (wrong_side::is_mistake)
    return wrong_side{};
  else if constexpr (call::value == form::sink && (attaches_side<Sides> || ...))
    return stage_that_writes_into_its_second_argument_has_to_name_its_output<Stage>{};
  else
    return call{};
}

/// What a user wrote as a callable that is inside of one of ours: in graph/detail/join.hpp and
/// graph/detail/feedback.hpp.
template <class F>
struct bare_callable : type_tag<F> {};
template <class F>
concept member_pointer = std::is_member_pointer_v<typename bare_callable<F>::type>;
template <fixed_string Stage, class F>
using member_pointer_mistake =
    stage_is_a_pointer_to_a_member_write_a_lambda_that_calls_it<Stage, typename bare_callable<F>::type>;

/// Several call operators, or a template with more arguments: what it returns for a const reference, else for an
/// rvalue.
template <fixed_string Stage, fixed_string Before, class In, class F>
consteval auto form_of_overloads() {
  if constexpr (member_pointer<F>) {
    return member_pointer_mistake<Stage, F>{};
  } else if constexpr (std::is_invocable_v<F&, const In&>) {
    using result = std::invoke_result_t<F&, const In&>;
    if constexpr (std::is_void_v<result>)
      return generic_stage_returns_nothing_write_in_place_or_sink<Stage>{};
    else
      return returning<result, false>();
  } else if constexpr (std::is_invocable_v<F&, In&&>) {
    using result = std::invoke_result_t<F&, In&&>;
    if constexpr (std::is_void_v<result>)
      return generic_stage_returns_nothing_write_in_place_or_sink<Stage>{};
    else
      return returning<result, true>();
  } else
    return stage_cannot_take_what_the_one_before_gives<Before, gives_item<In>, Stage, wants_item<F>>{};
}

/// The form of the callable `F` for items of type `In`, or the mistake.
template <fixed_string Stage, fixed_string Before, class F, class In>
consteval auto form_for() {
  constexpr bool generic = generic_callable<F, In>;
  using signature = decltype(signature_for<F, In>());
  if constexpr (signature::arguments::size >= 1)
    return form_of_signature<Stage, Before, generic, In>(signature{});
  else if constexpr (plain_callable<F>)
    return stage_cannot_take_what_the_one_before_gives<Before, gives_item<In>, Stage, wants_item<F>>{};
  else
    return form_of_overloads<Stage, Before, In, F>();
}

}  // namespace detail
}  // namespace levada
