// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/scatter.hpp: elements picked and placed by tensors of indices, and by where they stand (ONNX GatherElements,
// GatherND, ScatterElements, ScatterND, OneHot, Trilu).

#include <levada/nn/along_axis.hpp>
#include <levada/nn/shape_rule.hpp>

namespace levada {

namespace detail {

template <class T>
concept index_tensor =
    any_tensor<T> && std::integral<typename T::value_type> && !std::same_as<typename T::value_type, bool>;

/// No extent of `part` is above that of `whole`, but for one axis.
constexpr bool lies_within(const shape& part, const shape& whole, std::size_t but) {
  if (part.rank != whole.rank) return false;
  for (std::size_t axis = 0; axis < part.rank; ++axis)
    if (axis != but && part[axis] > whole[axis]) return false;
  return true;
}

template <std::ptrdiff_t Axis, class In>
inline constexpr bool gathers_elements = false;
template <std::ptrdiff_t Axis, any_tensor Data, index_tensor Indices>
  requires has_axis<Data, Axis>
inline constexpr bool gathers_elements<Axis, std::tuple<Data, Indices>> =
    lies_within(shape_of<Indices>, shape_of<Data>, axis_of(Axis, Data::rank));

/// The axes of the indices without their last, then those of the data that no index picks.
constexpr shape gathered_nd(std::size_t batch, const shape& data, const shape& indices) {
  if (indices.rank == 0 || batch >= indices.rank) return no_shape;
  const std::size_t picked = batch + indices[indices.rank - 1];
  if (picked > data.rank || indices.rank - 1 + data.rank - picked > shape::max_rank) return no_shape;
  for (std::size_t axis = 0; axis < batch; ++axis)
    if (data[axis] != indices[axis]) return no_shape;
  shape out;
  for (std::size_t axis = 0; axis + 1 < indices.rank; ++axis) out.extents[out.rank++] = indices[axis];
  for (std::size_t axis = picked; axis < data.rank; ++axis) out.extents[out.rank++] = data[axis];
  return out;
}
template <std::size_t Batch, class In>
inline constexpr shape gather_nd_result = no_shape;
template <std::size_t Batch, any_tensor Data, index_tensor Indices>
inline constexpr shape gather_nd_result<Batch, std::tuple<Data, Indices>> =
    gathered_nd(Batch, shape_of<Data>, shape_of<Indices>);

template <std::ptrdiff_t Axis, class In>
inline constexpr bool scatters_elements = false;
template <std::ptrdiff_t Axis, any_tensor Data, index_tensor Indices, any_tensor Updates>
inline constexpr bool scatters_elements<Axis, std::tuple<Data, Indices, Updates>> =
    gathers_elements<Axis, std::tuple<Data, Indices>> && shape_of<Indices> == shape_of<Updates> &&
    std::same_as<typename Data::value_type, typename Updates::value_type>;

template <class In>
inline constexpr bool scatters_nd = false;
template <any_tensor Data, index_tensor Indices, any_tensor Updates>
inline constexpr bool scatters_nd<std::tuple<Data, Indices, Updates>> =
    gathered_nd(0, shape_of<Data>, shape_of<Indices>) == shape_of<Updates> &&
    std::same_as<typename Data::value_type, typename Updates::value_type>;

}  // namespace detail

/// What happens to an element that an update goes to.
enum class scatter : unsigned char { replace, add, mul, min, max };

/// (data, indices): output[i, j, k] = data[i, indices[i, j, k], k] of `Axis` = 1. Negative indices count from the end;
/// one beyond the axis gives zero.
template <std::ptrdiff_t Axis>
struct gather_elements_op : moving_op {
  static constexpr op_kind fuses_as = op_kind::opaque;
  static constexpr std::string_view kind = "gather_elements";
  static constexpr std::string_view expects =
      "a tuple of a tensor that has the axis and integers of its rank, whose other extents are no larger";

  template <class In>
    requires detail::gathers_elements<Axis, In>
  using output = with_element_t<typename std::tuple_element_t<0, In>::value_type, std::tuple_element_t<1, In>>;
};

/// (data, indices [..., K]): the part of data at each place of K indices, behind `Batch` axes that both have.
template <std::size_t Batch>
struct gather_nd_op : moving_op {
  static constexpr op_kind fuses_as = op_kind::opaque;
  static constexpr std::string_view kind = "gather_nd";
  static constexpr std::string_view expects =
      "a tuple of a tensor and integers, as many along their last axis as it has";

  template <class In>
    requires(detail::gather_nd_result<Batch, In>.elements() > 0)
  using output = tensor_of_t<typename std::tuple_element_t<0, In>::value_type, detail::gather_nd_result<Batch, In>>;
};

/// (data, indices, updates): data with each update at the index of its place along `Axis`. Updates beyond it are left
/// out.
template <std::ptrdiff_t Axis, scatter How>
struct scatter_elements_op : moving_op {
  static constexpr op_kind fuses_as = op_kind::opaque;
  static constexpr std::string_view kind = "scatter_elements";
  static constexpr std::string_view expects =
      "a tuple of a tensor that has the axis, integers of its rank and as many updates of its elements";

  template <class In>
    requires detail::scatters_elements<Axis, In>
  using output = std::tuple_element_t<0, In>;
};

/// (data, indices [..., K], updates): data with the parts of `updates` at the places of K indices.
template <scatter How>
struct scatter_nd_op : moving_op {
  static constexpr op_kind fuses_as = op_kind::opaque;
  static constexpr std::string_view kind = "scatter_nd";
  static constexpr std::string_view expects = "a tuple of a tensor, integers and the parts of it that they stand for";

  template <class In>
    requires detail::scatters_nd<In>
  using output = std::tuple_element_t<0, In>;
};

/// Each index as `Depth` elements along a new axis: `on` at the index, `off` elsewhere.
template <tensor_element T, std::size_t Depth, std::ptrdiff_t Axis>
  requires(Depth > 0)
struct one_hot_op : weightless_op {
  static constexpr std::string_view kind = "one_hot";
  static constexpr std::string_view expects = "a tensor of numbers of an axis less than the result";

  T off, on;

  template <class In>
  static constexpr shape result = [] {
    const std::size_t axis = detail::axis_of(Axis, In::rank + 1);
    if (axis > In::rank || In::rank == shape::max_rank) return no_shape;
    shape out;
    for (std::size_t a = 0; a <= In::rank; ++a)
      out.extents[out.rank++] = a == axis ? Depth : In::extents[a < axis ? a : a - 1];
    return out;
  }();

  template <detail::numbers_tensor In>
    requires(result<In>.elements() > 0)
  using output = tensor_of_t<T, result<In>>;

  template <class In>
  static constexpr double flops = 0;
};

/// The last two axes above (`Upper`) or below the diagonal, itself included; zeros elsewhere. `Diagonal` 1 is that
/// beside it on the right.
template <bool Upper, std::ptrdiff_t Diagonal>
struct trilu_op : moving_op {
  static constexpr std::string_view kind = "trilu";
  static constexpr std::string_view expects = "a tensor of at least two axes";

  template <any_tensor In>
    requires(In::rank >= 2)
  using output = In;
  static constexpr bool in_place = true;
};

namespace nn {

template <std::ptrdiff_t Axis>
inline constexpr op_stage<"gather_elements", gather_elements_op<Axis>> gather_elements{};
template <std::size_t Batch = 0>
inline constexpr op_stage<"gather_nd", gather_nd_op<Batch>> gather_nd{};
template <std::ptrdiff_t Axis, scatter How = scatter::replace>
inline constexpr op_stage<"scatter_elements", scatter_elements_op<Axis, How>> scatter_elements{};
template <scatter How = scatter::replace>
inline constexpr op_stage<"scatter_nd", scatter_nd_op<How>> scatter_nd{};
template <std::size_t Depth, std::ptrdiff_t Axis = -1, tensor_element T>
constexpr auto one_hot(T off, T on) {
  return op_stage<"one_hot", one_hot_op<T, Depth, Axis>>{{{}, off, on}, {}};
}
template <bool Upper, std::ptrdiff_t Diagonal = 0>
inline constexpr op_stage<"trilu", trilu_op<Upper, Diagonal>> trilu{};

}  // namespace nn
}  // namespace levada
