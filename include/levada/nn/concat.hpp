// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/concat.hpp: several tensors into one, one into several, and slices picked by a second tensor (ONNX Concat, Split,
// Gather).

#include <levada/nn/shape_rule.hpp>

namespace levada {

namespace detail {

/// The elements of one step of the axes before `axis`.
constexpr std::size_t run_from(const shape& s, std::size_t axis) {
  std::size_t run = 1;
  for (std::size_t a = axis; a < s.rank; ++a) run *= s[a];
  return run;
}

template <std::size_t N>
constexpr shape concatenated_shape(std::ptrdiff_t axis, const shape (&parts)[N]) {
  shape out = parts[0];
  const std::size_t at = axis_of(axis, out.rank);
  if (at == out.rank) return no_shape;
  for (std::size_t p = 1; p < N; ++p) {
    const shape& part = parts[p];
    if (part.rank != out.rank) return no_shape;
    for (std::size_t a = 0; a < out.rank; ++a)
      if (a != at && part[a] != out[a]) return no_shape;
    out.extents[at] += part[at];
  }
  return out;
}

template <std::ptrdiff_t Axis, class In>
inline constexpr shape concat_result = no_shape;
template <std::ptrdiff_t Axis, any_tensor First, any_tensor... Rest>
  requires(std::same_as<typename First::value_type, typename Rest::value_type> && ...)
inline constexpr shape concat_result<Axis, std::tuple<First, Rest...>> = [] {
  constexpr shape parts[] = {shape_of<First>, shape_of<Rest>...};
  return concatenated_shape(Axis, parts);
}();

template <class = void>
constexpr shape gathered(std::ptrdiff_t along, const shape& data, const shape& indices) {
  const std::size_t axis = axis_of(along, data.rank);
  if (axis == data.rank || data.rank + indices.rank - 1 > shape::max_rank) return no_shape;
  shape out;
  for (std::size_t a = 0; a < axis; ++a) out.extents[out.rank++] = data[a];
  for (std::size_t extent : indices) out.extents[out.rank++] = extent;
  for (std::size_t a = axis + 1; a < data.rank; ++a) out.extents[out.rank++] = data[a];
  return out;
}

template <std::ptrdiff_t Axis, class In>
inline constexpr shape gather_result = no_shape;
template <std::ptrdiff_t Axis, any_tensor Data, any_tensor Indices>
  requires std::integral<typename Indices::value_type>
inline constexpr shape gather_result<Axis, std::tuple<Data, Indices>> =
    gathered(Axis, shape_of<Data>, shape_of<Indices>);

}  // namespace detail

/// Tensors that differ in one axis alone, one after the other along it. Takes a tuple.
template <std::ptrdiff_t Axis>
struct concat_op : moving_op {
  static constexpr std::string_view kind = "concat";
  static constexpr std::string_view expects = "a tuple of tensors of one type of element and equal in all axes but one";

  template <tensor_tuple In>
    requires(detail::concat_result<Axis, In>.elements() > 0)
  using output = tensor_of_t<typename std::tuple_element_t<0, In>::value_type, detail::concat_result<Axis, In>>;

  /// No axis before it has more than one place.
  template <class In>
  static constexpr bool joins_in_a_row = [] {
    constexpr shape out = detail::concat_result<Axis, In>;
    return detail::run_from(out, detail::axis_of(Axis, out.rank)) == out.elements();
  }();
};

/// One tensor cut along an axis into parts of these extents. Gives a tuple.
template <std::ptrdiff_t Axis, std::size_t... Extents>
  requires(sizeof...(Extents) > 0 && ((Extents > 0) && ...))
struct split_op : moving_op {
  static constexpr std::string_view kind = "split";
  static constexpr std::string_view expects = "a tensor whose axis has the sum of the extents";

  template <std::size_t Extent>
  static constexpr shape part(shape in) {
    in.extents[detail::axis_of(Axis, in.rank)] = Extent;
    return in;
  }
  template <class In, std::size_t Extent>
  static constexpr shape part_of = part<Extent>(shape_of<In>);

  template <any_tensor In>
    requires(detail::axis_of(Axis, In::rank) < In::rank &&
             In::extents[detail::axis_of(Axis, In::rank)] == (Extents + ...))
  using output = std::tuple<tensor_of_t<typename In::value_type, part_of<In, Extents>>...>;
};

/// One of several tensors: part `Index` of a tuple, as of what `split`, `top_k` and `lstm` give.
template <std::size_t Index>
struct part_op : moving_op {
  static constexpr std::string_view kind = "part";
  static constexpr std::string_view expects = "a tuple of tensors that has that part";

  template <tensor_tuple In>
    requires(Index < std::tuple_size_v<In>)
  using output = std::tuple_element_t<Index, In>;
};

/// The slices of `Axis` that a tensor of integers names; its shape takes the place of the axis. Negative indices count
/// from the end; one that is beyond either end gives zeros. Takes a tuple of data and indices.
template <std::ptrdiff_t Axis>
struct gather_by_op : moving_op {
  static constexpr std::string_view kind = "gather";
  static constexpr std::string_view expects = "a tuple of a tensor that has the axis and a tensor of integers";

  template <tensor_tuple In>
    requires(detail::gather_result<Axis, In>.elements() > 0)
  using output = tensor_of_t<typename std::tuple_element_t<0, In>::value_type, detail::gather_result<Axis, In>>;
};

namespace nn {

template <std::ptrdiff_t Axis>
inline constexpr op_stage<"concat", concat_op<Axis>> concat{};
/// `nn::split<0, 2, 6>` cuts eight channels into two and six.
template <std::ptrdiff_t Axis, std::size_t... Extents>
inline constexpr op_stage<"split", split_op<Axis, Extents...>> split{};
template <std::size_t Index>
inline constexpr op_stage<"part", part_op<Index>> part{};
template <std::ptrdiff_t Axis>
inline constexpr op_stage<"gather", gather_by_op<Axis>> gather_by{};

}  // namespace nn
}  // namespace levada
