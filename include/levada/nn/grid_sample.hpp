// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/grid_sample.hpp: a picture sampled at the places of a grid (ONNX GridSample).

#include <levada/nn/shape_rule.hpp>

namespace levada {

enum class sample_mode : unsigned char { nearest, bilinear, bicubic };
/// What lies outside of the picture: zeros, its nearest element, its mirror image.
enum class sample_padding : unsigned char { zeros, border, reflection };

namespace detail {

template <class In>
inline constexpr shape grid_sample_result = no_shape;
template <chw_tensor X, any_tensor Grid>
  requires std::same_as<typename X::value_type, typename Grid::value_type> &&
               (Grid::rank == 3 && Grid::extents[Grid::rank - 1] == 2)
inline constexpr shape grid_sample_result<std::tuple<X, Grid>> = shape(X::extents[0], Grid::extents[0],
                                                                       Grid::extents[1]);

}  // namespace detail

/// (x [C, H, W], grid [H', W', 2]) -> [C, H', W']: the grid has x and y of each place, -1 and 1 the edges of the
/// picture, or where `AlignCorners` the centres of its outermost elements.
template <sample_mode Mode, sample_padding Padding, bool AlignCorners>
struct grid_sample_op : weightless_op {
  static constexpr std::string_view kind = "grid_sample";
  static constexpr std::string_view expects =
      "a tuple of a float or double picture C, H, W and places H', W', 2 of the same element";

  template <class In>
    requires(detail::grid_sample_result<In>.elements() > 0)
  using output = tensor_of_t<typename std::tuple_element_t<0, In>::value_type, detail::grid_sample_result<In>>;

  template <class In>
  static constexpr double flops =
      (Mode == sample_mode::bicubic ? 40.0 : 8.0) * static_cast<double>(output<In>::elements);
};

namespace nn {

template <sample_mode Mode = sample_mode::bilinear, sample_padding Padding = sample_padding::zeros,
          bool AlignCorners = false>
inline constexpr op_stage<"grid_sample", grid_sample_op<Mode, Padding, AlignCorners>> grid_sample{};

}  // namespace nn
}  // namespace levada
