// SPDX-License-Identifier: Apache-2.0
#pragma once
// nn/move.hpp: ops that only move elements: transpose, slice, expand, tile, pad, gather, depth_to_space (ONNX's of
// these names).
//
// All of them are separable: output element (i, j, k) is the input element at offset `part(0, i) + part(1, j) + part(2,
// k)`, or outside the input where one part is. So an op is a shape rule and the function `part`, and one kernel moves
// them all:
//
//   static constexpr shape result(const shape& in);
//   static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index);

#include <algorithm>

#include <levada/nn/shape_rule.hpp>

namespace levada {

/// The part of an index that lies outside the input: any sum with it is negative.
inline constexpr std::ptrdiff_t outside = -(std::ptrdiff_t{1} << 48);

/// What separable moves have in common. `Op` has `result` and `part`.
template <class Op>
struct separable_move : moving_op {
  template <any_tensor In>
  static constexpr shape result_of = Op::result(shape_of<In>);

  template <any_tensor In>
    requires(result_of<In>.elements() > 0)
  using output = tensor_of_t<typename In::value_type, result_of<In>>;

  /// What stands in elements from outside the input.
  static constexpr double fill() { return 0; }
};

template <class Op, class In>
concept moves_separably = std::derived_from<Op, separable_move<Op>> && op_takes<Op, In>;

namespace detail {
constexpr std::ptrdiff_t offset(std::size_t index, std::size_t step) {
  return static_cast<std::ptrdiff_t>(index * step);
}

/// Where the output of a move lies in its input, if there in one piece; negative where not. For moves whose parts grow
/// by the same step along each axis.
template <class Op>
constexpr std::ptrdiff_t piece_of(const shape& in) {
  const shape out = Op::result(in), steps = strides_of(out);
  std::ptrdiff_t at = 0;
  for (std::size_t axis = 0; axis < out.rank; ++axis) {
    const std::ptrdiff_t first = Op::part(in, axis, 0);
    if (out[axis] > 1 && Op::part(in, axis, 1) - first != offset(1, steps[axis])) return -1;
    at += first;
  }
  return at;
}
}  // namespace detail

/// Output axis k is input axis `Axes[k]`.
template <std::size_t... Axes>
struct transpose_op : separable_move<transpose_op<Axes...>> {
  static constexpr std::string_view kind = "transpose";
  static constexpr std::string_view expects = "a tensor of as many axes as the permutation";

  static constexpr shape result(const shape& in) {
    constexpr std::size_t rank = sizeof...(Axes);
    bool seen[rank + 1]{};
    ((Axes < rank ? void(seen[Axes] = true) : void()), ...);
    if (in.rank != rank || std::count(seen, seen + rank, true) != rank) return no_shape;
    return shape(in[Axes]...);
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    constexpr std::size_t axes[] = {Axes...};
    return detail::offset(index, detail::strides_of(in)[axes[axis]]);
  }
};

/// A range of one axis as ONNX's Slice reads it: from `Start` to before `End` by `Step`; negative places count from the
/// end, those beyond it are moved to it.
template <std::ptrdiff_t Axis, std::ptrdiff_t Start, std::ptrdiff_t End, std::ptrdiff_t Step = 1>
  requires(Step != 0)
struct along {
  static constexpr std::ptrdiff_t axis = Axis, step = Step;

  static constexpr std::ptrdiff_t first(std::size_t extent) {
    const auto n = static_cast<std::ptrdiff_t>(extent);
    return Step > 0 ? std::clamp(from_front(Start, n), std::ptrdiff_t{0}, n)
                    : std::clamp(from_front(Start, n), std::ptrdiff_t{0}, n - 1);
  }
  static constexpr std::size_t count(std::size_t extent) {
    const auto n = static_cast<std::ptrdiff_t>(extent);
    const std::ptrdiff_t last = Step > 0 ? std::clamp(from_front(End, n), std::ptrdiff_t{0}, n)
                                         : std::clamp(from_front(End, n), std::ptrdiff_t{-1}, n - 1);
    const std::ptrdiff_t steps =
        Step > 0 ? (last - first(extent) + Step - 1) / Step : (first(extent) - last - Step - 1) / -Step;
    return steps > 0 ? static_cast<std::size_t>(steps) : 0;
  }

 private:
  static constexpr std::ptrdiff_t from_front(std::ptrdiff_t place, std::ptrdiff_t extent) {
    return place < 0 ? place + extent : place;
  }
};

/// A box of the tensor: `slice_op<along<0, 1, 3>, along<-1, -1, -4, -1>>`. Axes that are not named stay whole.
template <class... Ranges>
struct slice_op : separable_move<slice_op<Ranges...>> {
  static constexpr std::string_view kind = "slice";
  static constexpr std::string_view expects = "a tensor that has the axes, and elements in the ranges";

  static constexpr shape result(const shape& in) {
    shape out = in;
    bool there = true;
    const auto cut = [&]<class Range>(Range) {
      const std::size_t axis = detail::axis_of(Range::axis, in.rank);
      there = there && axis < in.rank;
      if (axis < in.rank) out.extents[axis] = Range::count(in[axis]);
    };
    (cut(Ranges()), ...);
    return there ? out : no_shape;
  }
  template <class In>
  static constexpr std::ptrdiff_t view_at = detail::piece_of<slice_op>(shape_of<In>);
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    std::ptrdiff_t place = static_cast<std::ptrdiff_t>(index);
    const auto cut = [&]<class Range>(Range) {
      if (detail::axis_of(Range::axis, in.rank) == axis)
        place = Range::first(in[axis]) + static_cast<std::ptrdiff_t>(index) * Range::step;
    };
    (cut(Ranges()), ...);
    return detail::offset(static_cast<std::size_t>(place), detail::strides_of(in)[axis]);
  }
};

/// The tensor broadcast against the shape `Dims`.
template <std::size_t... Dims>
struct expand_op : separable_move<expand_op<Dims...>> {
  static constexpr std::string_view kind = "expand";
  static constexpr std::string_view expects = "a tensor whose shape broadcasts to the one named";

  static constexpr shape result(const shape& in) { return detail::broadcast(in, shape(Dims...)); }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    return detail::offset(index, detail::broadcast_step(in, result(in), axis));
  }
};

/// Each axis repeated so many times.
template <std::size_t... Repeats>
  requires((Repeats > 0) && ...)
struct tile_op : separable_move<tile_op<Repeats...>> {
  static constexpr std::string_view kind = "tile";
  static constexpr std::string_view expects = "a tensor of as many axes as there are repeats";

  static constexpr shape result(const shape& in) {
    constexpr std::size_t repeats[] = {Repeats...};
    if (in.rank != sizeof...(Repeats)) return no_shape;
    shape out = in;
    for (std::size_t axis = 0; axis < in.rank; ++axis) out.extents[axis] *= repeats[axis];
    return out;
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    return detail::offset(index % in[axis], detail::strides_of(in)[axis]);
  }
};

/// What stands in the border that `pad` adds.
enum class pad_mode : unsigned char {
  zeros,
  constant,  ///< one value; `pad` without one adds zeros
  reflect,   ///< the mirror image without the border itself: dcb|abcd|cba
  edge,      ///< the border: aaa|abcd|ddd
  wrap       ///< the other end: bcd|abcd|abc
};

/// `Sides` elements more in front of each axis, then behind each axis (ONNX's order); negative sides cut off.
template <pad_mode Mode, std::ptrdiff_t... Sides>
struct pad_op : separable_move<pad_op<Mode, Sides...>> {
  static constexpr std::string_view kind = "pad";
  static constexpr std::string_view expects = "a tensor of half as many axes as sides; reflect: longer than its sides";

  double value = 0;

  constexpr double fill() const { return value; }

  static constexpr shape result(const shape& in) {
    if (2 * in.rank != sizeof...(Sides)) return no_shape;
    shape out = in;
    for (std::size_t axis = 0; axis < in.rank; ++axis) {
      const auto extent = static_cast<std::ptrdiff_t>(in[axis]);
      const std::ptrdiff_t front = side(axis), back = side(in.rank + axis), padded = extent + front + back;
      if (padded <= 0 || (Mode == pad_mode::reflect && (front >= extent || back >= extent))) return no_shape;
      out.extents[axis] = static_cast<std::size_t>(padded);
    }
    return out;
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    const auto extent = static_cast<std::ptrdiff_t>(in[axis]);
    std::ptrdiff_t place = static_cast<std::ptrdiff_t>(index) - side(axis);
    if ((Mode == pad_mode::zeros || Mode == pad_mode::constant) && (place < 0 || place >= extent)) return outside;
    if (Mode == pad_mode::reflect) place = place < 0 ? -place : place >= extent ? 2 * (extent - 1) - place : place;
    if (Mode == pad_mode::edge) place = std::clamp(place, std::ptrdiff_t{0}, extent - 1);
    if (Mode == pad_mode::wrap) place = (place % extent + extent) % extent;
    return detail::offset(static_cast<std::size_t>(place), detail::strides_of(in)[axis]);
  }

 private:
  static constexpr std::ptrdiff_t side(std::size_t i) {
    constexpr std::ptrdiff_t sides[] = {Sides...};
    return sides[i];
  }
};

/// The slices of `Axis` with these indices, in this order; negative ones count from the end.
template <std::ptrdiff_t Axis, std::ptrdiff_t... Indices>
  requires(sizeof...(Indices) > 0)
struct gather_op : separable_move<gather_op<Axis, Indices...>> {
  static constexpr std::string_view kind = "gather";
  static constexpr std::string_view expects = "a tensor that has the axis, and the indices on it";

  static constexpr shape result(const shape& in) {
    const std::size_t axis = detail::axis_of(Axis, in.rank);
    if (axis == in.rank || !((detail::axis_of(Indices, in[axis]) < in[axis]) && ...)) return no_shape;
    shape out = in;
    out.extents[axis] = sizeof...(Indices);
    return out;
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    constexpr std::ptrdiff_t indices[] = {Indices...};
    const bool gathered = axis == detail::axis_of(Axis, in.rank);
    return detail::offset(gathered ? detail::axis_of(indices[index], in[axis]) : index, detail::strides_of(in)[axis]);
  }
};

/// Which channels become one block of pixels: neighbours in the order row, column, channel (`dcr`) or channel, row,
/// column (`crd`, a pixel shuffle).
enum class depth_order : unsigned char { dcr, crd };

/// Channels into blocks of `Block` x `Block` pixels.
template <std::size_t Block, depth_order Order = depth_order::dcr>
  requires(Block > 0)
struct depth_to_space_op : separable_move<depth_to_space_op<Block, Order>> {
  static constexpr std::string_view kind = "depth_to_space";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr std::string_view expects =
      "a tensor of channels, height, width; the block's area divides the channels";

  static constexpr shape result(const shape& in) {
    if (in.rank != 3 || in[0] % (Block * Block) != 0) return no_shape;
    return shape(in[0] / (Block * Block), in[1] * Block, in[2] * Block);
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    const std::size_t plane = in[1] * in[2], depth = in[0] / (Block * Block);
    // How far apart the channels of two output channels and of two pixels of a block are.
    const std::size_t of_channel = Order == depth_order::dcr ? 1 : Block * Block;
    const std::size_t of_column = Order == depth_order::dcr ? depth : 1;
    if (axis == 0) return detail::offset(index, of_channel * plane);
    if (axis == 1) return detail::offset(index / Block * in[2] + index % Block * Block * of_column * plane, 1);
    return detail::offset(index / Block + index % Block * of_column * plane, 1);
  }
};

/// Blocks of `Block` x `Block` pixels into channels, in the order `dcr`.
template <std::size_t Block>
  requires(Block > 0)
struct space_to_depth_op : separable_move<space_to_depth_op<Block>> {
  static constexpr std::string_view kind = "space_to_depth";
  static constexpr layout takes_axes = layout::chw, gives_axes = layout::chw;
  static constexpr std::string_view expects = "a tensor of channels, height, width; the block divides both sides";

  static constexpr shape result(const shape& in) {
    if (in.rank != 3 || in[1] % Block != 0 || in[2] % Block != 0) return no_shape;
    return shape(in[0] * Block * Block, in[1] / Block, in[2] / Block);
  }
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    if (axis == 1) return detail::offset(index * Block, in[2]);
    if (axis == 2) return detail::offset(index, Block);
    const std::size_t pixel = index / in[0];
    return detail::offset(index % in[0], in[1] * in[2]) + detail::offset(pixel / Block, in[2]) +
           detail::offset(pixel % Block, 1);
  }
};

/// Axes of extent 1 left out: those named, or all.
template <std::ptrdiff_t... Axes>
struct squeeze_op : separable_move<squeeze_op<Axes...>> {
  static constexpr std::string_view kind = "squeeze";
  static constexpr std::string_view expects = "a tensor in which the axes named have extent 1";

  static constexpr shape result(const shape& in) {
    if (!((detail::axis_of(Axes, in.rank) < in.rank) && ...)) return no_shape;
    shape out;
    for (std::size_t axis = 0; axis < in.rank; ++axis) {
      const bool named = ((detail::axis_of(Axes, in.rank) == axis) || ...);
      if (named && in[axis] != 1) return no_shape;
      if (!(named || (sizeof...(Axes) == 0 && in[axis] == 1))) out.extents[out.rank++] = in[axis];
    }
    return out;
  }
  template <class In>
  static constexpr std::ptrdiff_t view_at = 0;
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    return detail::offset(index, detail::strides_of(result(in))[axis]);
  }
};

/// Axes of extent 1 put in, at these places of the output.
template <std::ptrdiff_t... Axes>
struct unsqueeze_op : separable_move<unsqueeze_op<Axes...>> {
  static constexpr std::string_view kind = "unsqueeze";
  static constexpr std::string_view expects = "a tensor; the new axes differ and lie in the output";

  static constexpr shape result(const shape& in) {
    const std::size_t rank = in.rank + sizeof...(Axes);
    bool fresh[shape::max_rank + 1]{};
    if (rank > shape::max_rank || !((detail::axis_of(Axes, rank) < rank) && ...)) return no_shape;
    ((fresh[detail::axis_of(Axes, rank)] = true), ...);
    if (std::count(fresh, fresh + rank, true) != sizeof...(Axes)) return no_shape;
    shape out;
    for (std::size_t axis = 0; out.rank < rank;) {
      const bool added = fresh[out.rank];
      out.extents[out.rank++] = added ? 1 : in[axis];
      axis += added ? 0 : 1;
    }
    return out;
  }
  template <class In>
  static constexpr std::ptrdiff_t view_at = 0;
  static constexpr std::ptrdiff_t part(const shape& in, std::size_t axis, std::size_t index) {
    return detail::offset(index, detail::strides_of(result(in))[axis]);
  }
};

namespace nn {

template <std::size_t... Axes>
inline constexpr op_stage<"transpose", transpose_op<Axes...>> transpose{};
template <class... Ranges>
inline constexpr op_stage<"slice", slice_op<Ranges...>> slice{};
template <std::size_t... Dims>
inline constexpr op_stage<"expand", expand_op<Dims...>> expand{};
template <std::size_t... Repeats>
inline constexpr op_stage<"tile", tile_op<Repeats...>> tile{};
template <std::ptrdiff_t Axis, std::ptrdiff_t... Indices>
inline constexpr op_stage<"gather", gather_op<Axis, Indices...>> gather{};
template <std::size_t Block, depth_order Order = depth_order::dcr>
inline constexpr op_stage<"depth_to_space", depth_to_space_op<Block, Order>> depth_to_space{};
template <std::size_t Block>
inline constexpr op_stage<"space_to_depth", space_to_depth_op<Block>> space_to_depth{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"squeeze", squeeze_op<Axes...>> squeeze{};
template <std::ptrdiff_t... Axes>
inline constexpr op_stage<"unsqueeze", unsqueeze_op<Axes...>> unsqueeze{};

/// `nn::pad<pad_mode::reflect, 0, 1, 1, 0, 1, 1>()` of C, H, W: one pixel around each plane.
template <pad_mode Mode, std::ptrdiff_t... Sides>
constexpr auto pad() {
  return op_stage<"pad", pad_op<Mode == pad_mode::constant ? pad_mode::zeros : Mode, Sides...>>{};
}
template <pad_mode Mode, std::ptrdiff_t... Sides>
constexpr auto pad(double value) {
  return op_stage<"pad", pad_op<Mode, Sides...>>{{{}, value}, {}};
}

}  // namespace nn
}  // namespace levada
