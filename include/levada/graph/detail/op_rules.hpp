// SPDX-License-Identifier: Apache-2.0
#pragma once
// graph/detail/op_rules.hpp: the words that the shape rules of ops are written in.

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <levada/graph/detail/mistake.hpp>
#include <levada/graph/op.hpp>

namespace levada {

/// A tensor of float or double.
template <class T>
concept floating_tensor = any_tensor<T> && std::floating_point<typename T::value_type>;

/// A tensor of three axes.
template <class T>
concept image_tensor = any_tensor<T> && T::rank == 3;

/// A floating tensor channels, height, width; items have no batch axis.
template <class T>
concept chw_tensor = floating_tensor<T> && image_tensor<T>;

/// The order of a picture's axes: planes (`chw`, what nn/ computes on) or interleaved (`hwc`, what cameras and files
/// give).
enum class layout : unsigned char { chw, hwc };

/// The `takes_axes` of an op that takes pictures in either order and was not told which; its `says_axes` is how to tell
/// it.
struct axes_unstated {};

/// The `takes_axes` of an op for which the last axis is one of features: a picture comes flat, or has its axes moved.
struct axes_of_no_picture {};

/// What ops without weights have in common.
struct weightless_op {
  template <class In>
  static constexpr std::array<parameter_info, 0> parameters{};
};

/// What ops that change each element by one operation have in common.
struct in_place_op {
  template <floating_tensor In>
    requires(In::rank >= 1)
  using output = In;
  static constexpr bool in_place = true;

  template <class In>
  static constexpr double flops = static_cast<double>(In::elements);
};

/// What ops that do no arithmetic have in common.
struct moving_op : weightless_op {
  static constexpr op_kind fuses_as = op_kind::injective;
  template <class In>
  static constexpr double flops = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_op_stage = false;
template <fixed_string Name, op Op>
inline constexpr bool is_op_stage<op_stage<Name, Op>> = true;

template <class T, class Shape, std::size_t Axis, std::size_t Extent>
struct with_extent;
template <class T, std::size_t... Dims, std::size_t Axis, std::size_t Extent>
struct with_extent<T, tensor<T, Dims...>, Axis, Extent> {
  template <std::size_t... I>
  static tensor<T, (I == Axis ? Extent : tensor<T, Dims...>::extents[I])...> pick(std::index_sequence<I...>);
  using type = decltype(pick(std::make_index_sequence<sizeof...(Dims)>()));
};

template <class U, class Tensor>
struct with_element;
template <class U, class T, std::size_t... Dims>
struct with_element<U, tensor<T, Dims...>> {
  using type = tensor<U, Dims...>;
};

}  // namespace detail

/// `In` with elements of type `U`.
template <tensor_element U, any_tensor In>
using with_element_t = typename detail::with_element<U, In>::type;

/// `In` with its last axis made `Extent` long.
template <any_tensor In, std::size_t Extent>
using with_last_extent_t = typename detail::with_extent<typename In::value_type, In, In::rank - 1, Extent>::type;

/// The parameters of ops that weigh and sum: "weight" and, unless there is none, one "bias" an output.
template <bool HasBias>
constexpr auto weight_and_bias(element type, const shape& weight, std::size_t outputs) {
  if constexpr (HasBias)
    return std::array{parameter_info{"weight", type, weight}, parameter_info{"bias", type, shape(outputs)}};
  else
    return std::array{parameter_info{"weight", type, weight}};
}

/// The name of a parameter, ONNX's, and PyTorch's where that is another.
struct parameter_name {
  std::string_view name, other = {};

  constexpr explicit parameter_name(std::string_view only) : name(only) {}
  constexpr parameter_name(std::string_view onnx, std::string_view torch) : name(onnx), other(torch) {}
};

/// Parameters of one type and shape.
template <class... Name>
constexpr std::array<parameter_info, sizeof...(Name)> equal_parameters(element type, const shape& extents,
                                                                       const Name&... names) {
  return {parameter_info{parameter_name(names).name, type, extents, parameter_name(names).other}...};
}

/// The same stage under another name: `named<"pool1">(nn::max_pool2d<2>)`.
template <fixed_string Name, class Stage>
  requires detail::is_op_stage<Stage>
constexpr auto named(const Stage& stage) {
  return op_stage<Name, typename Stage::op_type>{stage.description, stage.weights};
}

}  // namespace levada
