// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/spirv/detail/element_wise.hpp: ops that make each element of one element, as the lambdas of kernels: they
// fuse with each other, and into the end of a kernel that gives the elements.

#include <concepts>
#include <cstddef>

#include <levada/graph/op.hpp>
#include <levada/kernel/detail/composed.hpp>
#include <levada/kernel/detail/trace.hpp>
#include <levada/nn/activation.hpp>
#include <levada/nn/reshape.hpp>
#include <levada/nn/transform.hpp>

namespace levada::detail {

struct same_value {
  template <class V>
  constexpr V operator()(const V& x) const {
    return x;
  }
};
struct rectified {
  template <class V>
  constexpr auto operator()(const V& x) const {
    return select(x < 0, 0, x);
  }
};

/// What the op does to an element.
template <class Op>
struct element_wise;
template <class F>
struct element_wise<transform_op<F>> {
  using function = F;
  static constexpr const F& of(const transform_op<F>& op) { return op.function; }
};
template <>
struct element_wise<relu_op> {
  using function = rectified;
  static constexpr function of(relu_op) { return {}; }
};
template <>
struct element_wise<flatten_op> {
  using function = same_value;
  static constexpr function of(flatten_op) { return {}; }
};
template <std::size_t... Dims>
struct element_wise<reshape_op<Dims...>> {
  using function = same_value;
  static constexpr function of(reshape_op<Dims...>) { return {}; }
};

template <class Op>
concept element_wise_op = requires { typename element_wise<Op>::function; };

/// An element that kernels compute with as it is stored: a word.
template <class T>
concept word_element = ir::is_scalar<T> && !std::same_as<T, bool>;

/// The ops can follow each other, and the lambdas of all give words, beginning with one of type `T`.
template <class T, class In, class... Ops>
inline constexpr bool give_words = word_element<T>;
template <class T, class In, class Op, class... Rest>
inline constexpr bool give_words<T, In, Op, Rest...> = false;
template <class T, class In, class Op, class... Rest>
  requires word_element<T> && element_wise_op<Op> && op_takes<Op, In>
inline constexpr bool give_words<T, In, Op, Rest...> =
    give_words<transformed_t<typename element_wise<Op>::function, T>, typename Op::template output<In>, Rest...>;

/// The lambda of a run of ops; of none, what leaves an element as it is.
template <class... Ops>
struct fused {
  using function = composed<typename element_wise<Ops>::function...>;
  static constexpr function of(const Ops&... ops) { return compose(element_wise<Ops>::of(ops)...); }
};
template <>
struct fused<> {
  using function = same_value;
  static constexpr function of() { return {}; }
};
template <class... Ops>
using fused_t = typename fused<Ops...>::function;

/// The captures are numbers that can be pushed; kernel/detail/trace.hpp says so where one is no `uniform`.
template <class F>
concept pushable = kernel_detail::captures_nothing<F> || (kernel_detail::captures_plain_words<F> && sizeof(F) <= 124);

}  // namespace levada::detail
