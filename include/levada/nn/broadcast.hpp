// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/broadcast.hpp: a generic lambda applied to the elements of several tensors that broadcast against each other, and
// the functions of two and three arguments made of it (ONNX Add, Sub, Mul, Div, Pow, Min, Max, Equal, Less, ..., Where,
// PRelu).

#include <levada/nn/shape_rule.hpp>
#include <levada/nn/transform.hpp>

namespace levada {

namespace detail {

/// What stands for an element of one of several tensors: a value of the kernel language where all are of its types,
/// else lanes.
template <class T, class... All>
using asked_among_t = std::conditional_t<(ir::is_scalar<promoted_t<typename All::value_type>> && ...),
                                         typename asked_with<promoted_t<typename T::value_type>>::type,
                                         lanes<promoted_t<typename T::value_type>>>;

template <class In>
inline constexpr shape broadcast_result = no_shape;
template <any_tensor First, any_tensor... Rest>
inline constexpr shape broadcast_result<std::tuple<First, Rest...>> = [] {
  shape result = shape_of<First>;
  ((result = result.elements() == 0 ? result : broadcast(result, shape_of<Rest>)), ...);
  return result;
}();

template <class F, class In>
struct broadcast_element;
template <class F, class... T>
  requires std::invocable<const F&, asked_among_t<T, T...>...>
struct broadcast_element<F, std::tuple<T...>> {
  using type =
      typename transform_result<std::remove_cvref_t<std::invoke_result_t<const F&, asked_among_t<T, T...>...>>>::type;
};

/// What no function changes of a `broadcast`.
struct broadcast_rules : weightless_op {
  static constexpr op_kind fuses_as = op_kind::broadcast;
  static constexpr std::string_view expects =
      "a tuple of tensors that broadcast, of elements that the generic lambda takes";
  static constexpr bool in_place = true;
  template <class In>
  static constexpr double flops = static_cast<double>(broadcast_result<In>.elements());
};

}  // namespace detail

/// The type of element that `F` makes of the elements of a tuple of tensors.
template <class F, tensor_tuple In>
using broadcast_element_t = typename detail::broadcast_element<F, In>::type;

/// `F` applied to the elements of a tuple of tensors, broadcast against each other as in ONNX; called with what a
/// `transform` is called with, one argument a tensor.
template <class F>
struct broadcast_op : detail::broadcast_rules {
  static constexpr std::string_view kind = detail::name_of_function<F>("broadcast");

  F function;

  constexpr broadcast_op() = default;
  constexpr explicit broadcast_op(F callable) : function(std::move(callable)) {}

  template <tensor_tuple In>
    requires(detail::broadcast_result<In>.elements() > 0) && tensor_element<broadcast_element_t<F, In>>
  using output = tensor_of_t<broadcast_element_t<F, In>, detail::broadcast_result<In>>;

  template <class In>
    requires(!detail::named_function<F>)
  static consteval std::uint64_t source() {
    return []<class... T>(std::type_identity<std::tuple<T...>>) {
      return source_hash<F, promoted_t<typename T::value_type>...>();
    }(std::type_identity<In>());
  }
};

/// The stage of a function object without parameters: `broadcast<Name>(F{})`.
template <fixed_string Name, class F>
using broadcast_stage = op_stage<Name, broadcast_op<F>>;

/// A stage that applies a generic lambda to the elements of several tensors:
/// `broadcast<"mix">([](auto a, auto b) { return 0.25f * a + 0.75f * b; })`.
template <fixed_string Name, class F>
constexpr auto broadcast(F function) {
  return op_stage<Name, broadcast_op<F>>{broadcast_op<F>(std::move(function)), {}};
}

namespace detail {

// Where either is NaN the result is.
inline constexpr auto smaller_of_two = [](auto a, auto b) { return select(a != a, a, select(a < b, a, b)); };
inline constexpr auto larger_of_two = [](auto a, auto b) { return select(a != a, a, select(b < a, a, b)); };
struct smallest_among {
  static constexpr std::string_view kind = "min";
  constexpr auto operator()(auto first, auto... rest) const {
    ((first = smaller_of_two(first, rest)), ...);
    return first;
  }
};
struct largest_among {
  static constexpr std::string_view kind = "max";
  constexpr auto operator()(auto first, auto... rest) const {
    ((first = larger_of_two(first, rest)), ...);
    return first;
  }
};
struct sum_of_all {
  static constexpr std::string_view kind = "sum";
  constexpr auto operator()(auto first, auto... rest) const { return (first + ... + rest); }
};
struct mean_of_all {
  static constexpr std::string_view kind = "mean";
  constexpr auto operator()(auto first, auto... rest) const {
    return (first + ... + rest) / static_cast<float>(1 + sizeof...(rest));
  }
};
struct sum_of_two {
  static constexpr std::string_view kind = "add";
  constexpr auto operator()(auto a, auto b) const { return a + b; }
};
struct difference_of {
  static constexpr std::string_view kind = "sub";
  constexpr auto operator()(auto a, auto b) const { return a - b; }
};
struct product_of {
  static constexpr std::string_view kind = "mul";
  constexpr auto operator()(auto a, auto b) const { return a * b; }
};
struct quotient_of {
  static constexpr std::string_view kind = "div";
  constexpr auto operator()(auto a, auto b) const { return a / b; }
};
struct power_of {
  static constexpr std::string_view kind = "pow";
  constexpr auto operator()(auto a, auto b) const { return pow(a, b); }
};
struct are_equal {
  static constexpr std::string_view kind = "equal";
  constexpr auto operator()(auto a, auto b) const { return a == b; }
};
struct is_less {
  static constexpr std::string_view kind = "less";
  constexpr auto operator()(auto a, auto b) const { return a < b; }
};
struct is_less_or_equal {
  static constexpr std::string_view kind = "less_or_equal";
  constexpr auto operator()(auto a, auto b) const { return a <= b; }
};
struct is_greater {
  static constexpr std::string_view kind = "greater";
  constexpr auto operator()(auto a, auto b) const { return b < a; }
};
struct is_greater_or_equal {
  static constexpr std::string_view kind = "greater_or_equal";
  constexpr auto operator()(auto a, auto b) const { return b <= a; }
};
struct chosen_by {
  static constexpr std::string_view kind = "where";
  constexpr auto operator()(auto chosen, auto a, auto b) const { return select(chosen != 0, a, b); }
};
struct sloped {
  static constexpr std::string_view kind = "prelu";
  constexpr auto operator()(auto x, auto slope) const { return select(x < 0, x * slope, x); }
};

}  // namespace detail

namespace nn {

/// Of a tuple of two tensors.
inline constexpr broadcast_stage<"add", detail::sum_of_two> add{};
inline constexpr broadcast_stage<"sub", detail::difference_of> sub{};
inline constexpr broadcast_stage<"mul", detail::product_of> mul{};
inline constexpr broadcast_stage<"div", detail::quotient_of> div{};
inline constexpr broadcast_stage<"pow", detail::power_of> pow{};
inline constexpr broadcast_stage<"equal", detail::are_equal> equal{};
inline constexpr broadcast_stage<"less", detail::is_less> less{};
inline constexpr broadcast_stage<"less_or_equal", detail::is_less_or_equal> less_or_equal{};
inline constexpr broadcast_stage<"greater", detail::is_greater> greater{};
inline constexpr broadcast_stage<"greater_or_equal", detail::is_greater_or_equal> greater_or_equal{};
/// x where x >= 0, else slope x.
inline constexpr broadcast_stage<"prelu", detail::sloped> prelu{};

/// Of one tensor or more; NaN where one is NaN.
inline constexpr broadcast_stage<"min", detail::smallest_among> min{};
inline constexpr broadcast_stage<"max", detail::largest_among> max{};

/// Of one tensor or more; the mean of floating numbers.
inline constexpr broadcast_stage<"sum", detail::sum_of_all> sum{};
inline constexpr broadcast_stage<"mean", detail::mean_of_all> mean{};

/// Of a condition (bool) and two tensors.
inline constexpr broadcast_stage<"where", detail::chosen_by> where{};

}  // namespace nn
}  // namespace levada
