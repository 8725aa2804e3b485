// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/transform.hpp: a generic lambda applied to each element.

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

#include <levada/graph/detail/op_rules.hpp>
#include <levada/kernel/detail/scalar.hpp>
#include <levada/kernel/detail/source_hash.hpp>
#include <levada/nn/lanes.hpp>

namespace levada {

namespace detail {

/// The type that an element is computed in: narrow integers as int, as C++ promotes them; half and bfloat16 as float.
template <class T>
struct promoted {
  using type = decltype(+std::declval<T>());
};
template <>
struct promoted<half> {
  using type = float;
};
template <>
struct promoted<bfloat16> {
  using type = float;
};

/// What stands for an element while the type of the result is asked for: a value of the kernel language, or lanes of a
/// type that this does not compute with, as double.
template <class T>
struct asked_with {
  using type = lanes<T>;
};
template <class T>
  requires ir::is_scalar<T>
struct asked_with<T> {
  using type = scalar_value<T>;
};

template <class R>
struct transform_result {
  using type = R;
};
template <class V>
struct transform_result<lanes<V>> {
  using type = typename lanes<V>::element;
};
template <class T, class Machine>
struct transform_result<kernel_value<T, Machine>> {
  using type = T;
};

/// A function with a name of its own, ONNX's; the lambda of a user has none.
template <class F>
concept named_function = requires {
  { F::kind } -> std::convertible_to<std::string_view>;
};

template <class F>
consteval std::string_view name_of_function(std::string_view otherwise) {
  if constexpr (named_function<F>)
    return F::kind;
  else
    return otherwise;
}

}  // namespace detail

/// The type that elements of type `T` have when they reach a `transform`.
template <tensor_element T>
using promoted_t = typename detail::promoted<T>::type;

/// The type of element that `F` makes of elements of type `T`.
template <class F, class T>
using transformed_t = typename detail::transform_result<
    std::remove_cvref_t<std::invoke_result_t<const F&, typename detail::asked_with<promoted_t<T>>::type>>>::type;

namespace detail {

/// What no function changes of a `transform`.
struct transform_rules : weightless_op {
  static constexpr op_kind fuses_as = op_kind::element_wise;
  static constexpr std::string_view expects = "a tensor whose elements the generic lambda takes";
  static constexpr bool in_place = true;
  // One per element: what the lambda does is not known.
  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

}  // namespace detail

/// `F` applied to each element, called with values of the kernel language: of one number by `reference`, of a SIMD
/// vector by `simd`, of the kernel that is traced by `spirv`. Integers narrower than int arrive as int, half and
/// bfloat16 as float. A function object with a `kind` gives the op its name.
template <class F>
struct transform_op : detail::transform_rules {
  static constexpr std::string_view kind = detail::name_of_function<F>("transform");

  F function;

  constexpr transform_op() = default;
  constexpr explicit transform_op(F callable) : function(std::move(callable)) {}

  template <any_tensor In>
    requires tensor_element<transformed_t<F, typename In::value_type>>
  using output = with_element_t<transformed_t<F, typename In::value_type>, In>;

  template <class In>
    requires(!detail::named_function<F>)
  static consteval std::uint64_t source() {
    return source_hash<F, promoted_t<typename In::value_type>>();
  }
};

/// The stage of a function object without parameters: `transform<Name>(F{})`.
template <fixed_string Name, class F>
using transform_stage = op_stage<Name, transform_op<F>>;

/// A stage that applies a generic lambda to each element:
/// `transform<"normalise">([](auto px) { return to_float(px) / 255.0f; })`. Any captures on the CPU; on a device
/// `uniform`s.
template <fixed_string Name, class F>
constexpr auto transform(F function) {
  return op_stage<Name, transform_op<F>>{transform_op<F>(std::move(function)), {}};
}

}  // namespace levada
