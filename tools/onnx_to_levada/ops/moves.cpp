// SPDX-License-Identifier: Apache-2.0
// ops/moves.cpp: ops that move elements: reshape, transpose, concat, slice, pad, gather and the like.

#include <algorithm>
#include <limits>
#include <numeric>

#include "../output/lowering.hpp"
#include "folding.hpp"
#include "op_definition.hpp"
#include "per_item.hpp"

namespace levada::onnx {
namespace {

// --- other shapes of the same elements ------------------------------------------------------------------------------

std::vector<tensor_type> infer_reshape(const op_call& call) {
  const extents wanted = call.integers_of("shape", 1);
  const extents& from = call.dims();
  extents dims;
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    std::int64_t extent = wanted[axis];
    if (extent == 0 && call.integer("allowzero", 0) == 0) {
      call.require(axis < from.size(), "a 0 of its shape stands for no axis");
      extent = from[axis];
    }
    if (extent == -1) {
      call.require(open < 0, "its shape has two -1");
      open = static_cast<std::ptrdiff_t>(axis);
    } else {
      // No tensor has more elements, so that no product of these overflows.
      constexpr std::int64_t most = std::int64_t{1} << 31;
      call.require(extent >= 0 && extent <= most && (extent == 0 || known <= most / extent), "its shape is too large");
      known *= extent;
    }
    dims.push_back(extent);
  }
  const std::int64_t elements = elements_of(from);
  if (open >= 0) {
    call.require(known != 0 && elements % known == 0, "its shape does not have as many elements");
    dims[static_cast<std::size_t>(open)] = elements / known;
  }
  call.require(elements_of(dims) == elements, "its shape does not have as many elements");
  return {{call.type(), dims}};
}
std::vector<tensor_type> infer_flatten(const op_call& call) {
  const std::int64_t given = call.integer("axis", 1), rank = call.rank();
  const std::size_t axis = given == rank ? static_cast<std::size_t>(rank) : call.axis(given, rank);
  const extents& d = call.dims();
  return {{call.type(), {elements_between(d, 0, axis), elements_between(d, axis, d.size())}}};
}
std::vector<tensor_type> infer_squeeze(const op_call& call) {
  const extents& d = call.dims();
  const std::vector<std::size_t> axes = call.axes(call.integers_of("axes", 1), call.rank());
  const bool all = call.has(1) ? false : call.find("axes") == nullptr;
  extents dims;
  for (std::size_t axis = 0; axis < d.size(); ++axis) {
    const bool named = std::binary_search(axes.begin(), axes.end(), axis);
    call.require(!named || d[axis] == 1, "it removes an axis that has more than one element");
    if (!(all ? d[axis] == 1 : named)) dims.push_back(d[axis]);
  }
  return {{call.type(), dims}};
}
std::vector<tensor_type> infer_unsqueeze(const op_call& call) {
  const std::vector<std::int64_t> given = call.integers_of("axes", 1);
  const std::vector<std::size_t> axes = call.axes(given, call.rank() + static_cast<std::int64_t>(given.size()));
  extents dims = call.dims();
  for (const std::size_t axis : axes) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return {{call.type(), dims}};
}
std::vector<constant> fold_reshape(const op_call& call) { return {call.in(0).known->shaped(call.out().dims)}; }
void lower_reshape(lowering& to, const op_call& call) {
  to.give(call, 0, to.in_shape(call, 0, stored_dims(call.out().dims)));
}

// --- Transpose ------------------------------------------------------------------------------------------------------

std::vector<std::size_t> permutation_of(const op_call& call) {
  std::vector<std::size_t> result;
  const attribute* given = call.find("perm");
  for (std::int64_t axis = 0; axis < call.rank(); ++axis)
    result.push_back(given != nullptr ? call.axis(given->integers.at(static_cast<std::size_t>(axis)), call.rank())
                                      : static_cast<std::size_t>(call.rank() - 1 - axis));
  std::vector<std::size_t> sorted = result;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t axis = 0; axis < sorted.size(); ++axis)
    call.require(sorted[axis] == axis, "its axes are no permutation");
  return result;
}
std::vector<tensor_type> infer_transpose(const op_call& call) {
  extents dims;
  for (const std::size_t axis : permutation_of(call)) dims.push_back(call.dims()[axis]);
  return {{call.type(), dims}};
}
std::vector<constant> fold_transpose(const op_call& call) {
  const std::vector<std::int64_t> strides = strides_of(call.dims());
  std::vector<std::int64_t> steps;
  for (const std::size_t axis : permutation_of(call)) steps.push_back(strides[axis]);
  return {picked(*call.in(0).known, call.out().dims, strided_offsets(call.out().dims, steps))};
}
void lower_transpose(lowering& to, const op_call& call) {
  // Axes of extent 1 may go anywhere: what is left says whether anything moves.
  const std::vector<std::size_t> axes = permutation_of(call);
  extents moved, full;
  std::vector<std::size_t> kept;
  for (const std::size_t axis : axes)
    if (call.dims()[axis] != 1) kept.push_back(axis);
  if (std::is_sorted(kept.begin(), kept.end())) return lower_reshape(to, call);
  std::vector<std::size_t> sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  for (const std::size_t axis : sorted) full.push_back(call.dims()[axis]);
  extents order;
  for (const std::size_t axis : kept) {
    order.push_back(std::lower_bound(sorted.begin(), sorted.end(), axis) - sorted.begin());
    moved.push_back(call.dims()[axis]);
  }
  to.give(call, 0, to.add("nn::transpose<" + list_of(order) + ">", {to.in_shape(call, 0, full)}, call.type(), moved));
}

// --- Concat and Split -----------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_concat(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  extents dims = call.dims(0);
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const extents& next = call.dims(i);
    call.require(next.size() == dims.size(), "its inputs differ in their ranks");
    for (std::size_t a = 0; a < dims.size(); ++a)
      call.require(a == axis || next[a] == dims[a], "its inputs differ beside its axis");
    dims[axis] += next[axis];
  }
  return {{call.type(), dims}};
}
std::vector<constant> fold_concat(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank()), size = size_of(call.type());
  const extents& dims = call.out().dims;
  const std::int64_t blocks = elements_between(dims, 0, axis);
  std::vector<std::byte> bytes;
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::size_t i = 0; i < call.inputs(); ++i) {
      const auto all = call.in(i).known->bytes();
      const std::size_t length = static_cast<std::size_t>(elements_of(call.dims(i)) / blocks) * size;
      const auto part = all.subspan(static_cast<std::size_t>(block) * length, length);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
  return {constant(call.type(), dims, std::move(bytes))};
}

/// `axis` of a value as levada stores it: -1 where it is the axis that is left out.
std::ptrdiff_t stored_axis(const extents& dims, std::size_t axis) {
  return static_cast<std::ptrdiff_t>(axis) - static_cast<std::ptrdiff_t>(dims.size() - stored_dims(dims).size());
}

/// Ops of one axis are written in stored shapes, or, where that axis is the one that is left out, in ONNX's.
struct axis_view {
  bool whole;  ///< with all axes
  std::size_t axis;

  axis_view(const extents& dims, std::size_t wanted, bool force_whole = false) {
    const std::ptrdiff_t at = stored_axis(dims, wanted);
    whole = force_whole || at < 0;
    axis = whole ? wanted : static_cast<std::size_t>(at);
  }
  extents of(const extents& dims) const { return whole ? dims : stored_dims(dims); }
};

void lower_concat(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  bool uneven = false;  // an input may be 1 along an axis where the result is not
  for (std::size_t i = 0; i < call.inputs(); ++i)
    uneven = uneven || stored_dims(call.dims(i)).size() != stored_dims(call.out().dims).size();
  const axis_view view(call.dims(), axis, uneven);
  // Zeros behind or in front of one tensor are a pad.
  std::vector<std::size_t> zeros, others;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    bool zero = call.is_known(i);
    if (zero)
      for (const std::byte b : call.in(i).known->bytes()) zero = zero && b == std::byte{0};
    (zero ? zeros : others).push_back(i);
  }
  const extents dims = view.of(call.out().dims);
  if (others.size() == 1 && !zeros.empty()) {
    extents sides(2 * dims.size(), 0);
    for (const std::size_t i : zeros) sides[i < others[0] ? view.axis : dims.size() + view.axis] += call.dims(i)[axis];
    const int from = to.in_shape(call, others[0], view.of(call.dims(others[0])));
    return to.give(call, 0,
                   to.add("nn::pad<lv::pad_mode::constant, " + list_of(sides) + ">()", {from}, call.type(), dims));
  }
  if (call.inputs() == 1) return to.give(call, 0, to.in(call, 0));
  std::vector<int> from;
  for (std::size_t i = 0; i < call.inputs(); ++i) from.push_back(to.in_shape(call, i, view.of(call.dims(i))));
  // More than a node of levada takes are joined part by part.
  constexpr std::size_t most = most_values;
  const std::string op = "nn::concat<" + std::to_string(view.axis) + ">";
  while (from.size() > most) {
    std::vector<int> joined;
    for (std::size_t i = 0; i < from.size(); i += most) {
      const std::vector<int> part(from.begin() + static_cast<std::ptrdiff_t>(i),
                                  from.begin() + static_cast<std::ptrdiff_t>(std::min(i + most, from.size())));
      extents whole = to[part[0]].dims;
      for (std::size_t k = 1; k < part.size(); ++k) whole[view.axis] += to[part[k]].dims[view.axis];
      joined.push_back(part.size() == 1 ? part[0] : to.add(op, part, call.type(), whole));
    }
    from = std::move(joined);
  }
  to.give(call, 0, to.add(op, from, call.type(), dims));
}

std::vector<std::int64_t> split_extents(const op_call& call, std::size_t axis) {
  std::vector<std::int64_t> parts = call.integers_of("split", 1);
  const std::int64_t extent = call.dims()[axis],
                     count = call.integer("num_outputs", static_cast<std::int64_t>(call.outputs()));
  if (parts.empty()) {
    const std::int64_t each = (extent + count - 1) / count;
    for (std::int64_t i = 0, left = extent; i < count; ++i, left -= each) parts.push_back(std::min(each, left));
  }
  call.require(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == extent, "its parts are not the whole");
  return parts;
}
std::vector<tensor_type> infer_split(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  std::vector<tensor_type> types;
  for (const std::int64_t part : split_extents(call, axis)) {
    extents dims = call.dims();
    dims[axis] = part;
    types.push_back({call.type(), dims});
  }
  return types;
}

/// The part from `begin` on, `step` apart, along each axis.
std::vector<std::int64_t> slice_offsets(const extents& from, const extents& dims,
                                        const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& step) {
  std::vector<std::int64_t> steps = strides_of(from);
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    at += begin[axis] * steps[axis];
    steps[axis] *= step[axis];
  }
  return strided_offsets(dims, steps, at);
}
std::vector<constant> fold_split(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  std::vector<constant> result;
  std::vector<std::int64_t> begin(call.dims().size()), step(call.dims().size(), 1);
  for (const std::int64_t part : split_extents(call, axis)) {
    extents dims = call.dims();
    dims[axis] = part;
    result.push_back(picked(*call.in(0).known, dims, slice_offsets(call.dims(), dims, begin, step)));
    begin[axis] += part;
  }
  return result;
}
std::string along(std::size_t axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
  return "lv::along<" + std::to_string(axis) + ", " + std::to_string(begin) + ", " + std::to_string(end) +
         (step == 1 ? "" : ", " + std::to_string(step)) + ">";
}
void lower_split(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  const axis_view view(call.dims(), axis);
  const int from = to.in_shape(call, 0, view.of(call.dims()));
  std::int64_t begin = 0;
  std::size_t output = 0;
  for (const std::int64_t part : split_extents(call, axis)) {
    if (call.gives(output)) {
      extents dims = view.of(call.dims());
      dims[view.axis] = part;
      to.give(call, output,
              to.add("nn::slice<" + along(view.axis, begin, begin + part, 1) + ">", {from}, call.type(), dims));
    }
    begin += part;
    ++output;
  }
}

// --- Slice ----------------------------------------------------------------------------------------------------------

struct slice_part {
  std::vector<std::int64_t> begin, step;
  extents dims;
};
slice_part slice_of(const op_call& call) {
  const std::vector<std::int64_t> starts = call.integers_of("starts", 1), ends = call.integers_of("ends", 2);
  std::vector<std::int64_t> axes = call.integers_of("axes", 3),
                            steps = call.has(4) ? call.integers_in(4, "steps") : std::vector<std::int64_t>();
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  steps.resize(starts.size(), 1);
  call.require(starts.size() == ends.size() && starts.size() == axes.size(),
               "its starts, ends and axes differ in number");
  slice_part result{std::vector<std::int64_t>(call.dims().size()), std::vector<std::int64_t>(call.dims().size(), 1),
                    call.dims()};
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], call.rank());
    const std::int64_t extent = call.dims()[axis], step = steps[i];
    call.require(step != 0, "a step of 0");
    const auto placed = [&](std::int64_t at) {
      if (at < 0) at = at < -extent ? -1 : at + extent;
      return step > 0 ? std::clamp<std::int64_t>(at, 0, extent) : std::clamp<std::int64_t>(at, -1, extent - 1);
    };
    std::int64_t begin = starts[i] < -extent && step > 0 ? 0 : placed(starts[i]);
    if (step > 0) begin = std::max<std::int64_t>(begin, 0);
    // A negative end below the axis stands before its first element.
    const std::int64_t end = ends[i] < -extent ? (step > 0 ? 0 : -1) : placed(ends[i]);
    result.begin[axis] = begin;
    result.step[axis] = step;
    result.dims[axis] =
        std::max<std::int64_t>(0, step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step);
  }
  return result;
}
std::vector<tensor_type> infer_slice(const op_call& call) { return {{call.type(), slice_of(call).dims}}; }
std::vector<constant> fold_slice(const op_call& call) {
  const slice_part part = slice_of(call);
  return {picked(*call.in(0).known, part.dims, slice_offsets(call.dims(), part.dims, part.begin, part.step))};
}
void lower_slice(lowering& to, const op_call& call) {
  const slice_part part = slice_of(call);
  const extents& from = call.dims();
  const std::size_t left_out = from.size() - stored_dims(from).size();
  std::string parts;
  for (std::size_t axis = left_out; axis < from.size(); ++axis) {
    if (part.dims[axis] == from[axis] && part.step[axis] == 1) continue;
    const std::int64_t begin = part.begin[axis], step = part.step[axis];
    std::int64_t end = begin + step * part.dims[axis];
    if (step > 0) end = std::min(end, from[axis]);
    if (end < 0) end = -from[axis] - 1;  // before the first element
    parts += (parts.empty() ? "" : ", ") + along(axis - left_out, begin, end, step);
  }
  const int source = to.in(call, 0);
  if (parts.empty()) return to.give(call, 0, source);
  to.give(call, 0,
          to.add("nn::slice<" + parts + ">", {source}, call.type(),
                 extents(part.dims.begin() + static_cast<std::ptrdiff_t>(left_out), part.dims.end())));
}

// --- Pad ------------------------------------------------------------------------------------------------------------

std::vector<std::int64_t> sides_of(const op_call& call) {
  const bool by_input = call.opset() >= 11;
  std::vector<std::int64_t> given =
      by_input ? call.integers_in(1, "pads") : call.integers(call.find("pads") != nullptr ? "pads" : "paddings");
  const auto rank = static_cast<std::size_t>(call.rank());
  if (!call.has(3)) {
    call.require(given.size() == 2 * rank, "it has too few or too many pads");
    return given;
  }
  const std::vector<std::int64_t> axes = call.integers_in(3, "axes");
  call.require(given.size() == 2 * axes.size(), "it has too few or too many pads");
  std::vector<std::int64_t> sides(2 * rank);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], call.rank());
    sides[axis] = given[i];
    sides[rank + axis] = given[axes.size() + i];
  }
  return sides;
}
double pad_value(const op_call& call) {
  if (call.opset() < 11) return call.number("value", 0);
  return call.has(2) ? call.known(2, "the value").scalar<double>() : 0;
}
std::vector<tensor_type> infer_pad(const op_call& call) {
  const std::vector<std::int64_t> sides = sides_of(call);
  extents dims = call.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) dims[axis] += sides[axis] + sides[dims.size() + axis];
  return {{call.type(), dims}};
}
void lower_pad(lowering& to, const op_call& call) {
  const std::string mode = call.choice("mode", "constant", {"constant", "reflect", "edge", "wrap"});
  std::vector<std::int64_t> sides = sides_of(call);
  const std::size_t rank = call.dims().size();
  std::size_t left_out = rank - stored_dims(call.dims()).size();
  if (left_out != 0 && (sides[0] != 0 || sides[rank] != 0)) left_out = 0;
  if (left_out != 0) {
    sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(rank));
    sides.erase(sides.begin());
  }
  const auto kept = [&](const extents& dims) {
    return extents(dims.begin() + static_cast<std::ptrdiff_t>(left_out), dims.end());
  };
  const double value = mode == "constant" ? pad_value(call) : 0;
  const std::string argument = value == 0 ? "" : number_text(value, call.type());
  to.give(call, 0,
          to.add("nn::pad<lv::pad_mode::" + mode + ", " + list_of(sides) + ">(" + argument + ")",
                 {to.in_shape(call, 0, kept(call.dims()))}, call.type(), kept(call.out().dims)));
}

// --- Expand and Tile ------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_expand(const op_call& call) {
  return {{call.type(), broadcast_of(call, call.dims(), call.integers_in(1, "the shape"))}};
}
std::vector<constant> fold_expand(const op_call& call) {
  return {picked(*call.in(0).known, call.out().dims, broadcast_offsets(call.dims(), call.out().dims))};
}
void lower_expand(lowering& to, const op_call& call) {
  const extents dims = stored_dims(call.out().dims);
  const int from = to.in(call, 0);
  if (to[from].dims == dims) return to.give(call, 0, from);
  to.give(call, 0, to.add("nn::expand<" + list_of(dims) + ">", {from}, call.type(), dims));
}
std::vector<tensor_type> infer_tile(const op_call& call) {
  const std::vector<std::int64_t> times = call.integers_in(1, "repeats");
  call.require(times.size() == call.dims().size(), "it has too few or too many repeats");
  extents dims = call.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) dims[axis] *= times[axis];
  return {{call.type(), dims}};
}
std::vector<constant> fold_tile(const op_call& call) {
  // Each axis is two: the repetitions, which go on in the same place, and the axis itself.
  const extents& from = call.dims();
  const std::vector<std::int64_t> times = call.integers_in(1, "repeats"), strides = strides_of(from);
  extents both;
  std::vector<std::int64_t> steps;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    both.insert(both.end(), {times[axis], from[axis]});
    steps.insert(steps.end(), {0, strides[axis]});
  }
  return {picked(*call.in(0).known, call.out().dims, strided_offsets(both, steps))};
}
void lower_tile(lowering& to, const op_call& call) {
  std::vector<std::int64_t> times = call.integers_in(1, "repeats");
  const bool whole = stored_dims(call.dims()).size() == call.dims().size() || times[0] != 1;
  if (!whole) times.erase(times.begin());
  to.give(
      call, 0,
      to.add("nn::tile<" + list_of(times) + ">", {to.in_shape(call, 0, whole ? call.dims() : stored_dims(call.dims()))},
             call.type(), whole ? call.out().dims : stored_dims(call.out().dims)));
}

// --- Gather ---------------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_gather(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  extents dims(call.dims().begin(), call.dims().begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), call.dims(1).begin(), call.dims(1).end());
  dims.insert(dims.end(), call.dims().begin() + static_cast<std::ptrdiff_t>(axis) + 1, call.dims().end());
  return {{call.type(), dims}};
}
std::vector<std::int64_t> indices_of(const op_call& call, std::size_t axis) {
  std::vector<std::int64_t> indices = call.in(1).known->as<std::int64_t>();
  const std::int64_t extent = call.dims()[axis];
  for (std::int64_t& index : indices) {
    if (index < -extent || index >= extent) call.fail("index " + std::to_string(index) + " is beyond its axis");
    if (index < 0) index += extent;
  }
  return indices;
}
std::vector<constant> fold_gather(const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  const extents& d = call.dims();
  const std::int64_t inner = strides_of(d)[axis], outer = elements_of(d) / std::max<std::int64_t>(1, inner * d[axis]);
  std::vector<std::int64_t> offsets;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const std::int64_t index : indices_of(call, axis))
      for (std::int64_t i = 0; i < inner; ++i) offsets.push_back((o * d[axis] + index) * inner + i);
  return {picked(*call.in(0).known, call.out().dims, offsets)};
}
void lower_gather(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  const axis_view view(call.dims(), axis);
  extents from = view.of(call.dims());
  extents dims(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(view.axis));
  const auto with = [&](const extents& indices) {
    extents all = dims;
    all.insert(all.end(), indices.begin(), indices.end());
    all.insert(all.end(), from.begin() + static_cast<std::ptrdiff_t>(view.axis) + 1, from.end());
    return all;
  };
  const int data = to.in_shape(call, 0, from);
  if (call.is_known(1)) {
    const std::vector<std::int64_t> indices = indices_of(call, axis);
    bool in_row = true;
    for (std::size_t i = 1; i < indices.size(); ++i) in_row = in_row && indices[i] == indices[i - 1] + 1;
    const extents made = with({static_cast<std::int64_t>(indices.size())});
    const std::string op = in_row ? "nn::slice<" + along(view.axis, indices.front(), indices.back() + 1, 1) + ">"
                                  : "nn::gather<" + std::to_string(view.axis) + ", " + list_of(indices) + ">";
    const int result = to.add(op, {data}, call.type(), made);
    return to.give(call, 0, result);
  }
  const extents indices = call.dims(1).empty() ? extents{1} : call.dims(1);
  to.give(call, 0,
          to.add("nn::gather_by<" + std::to_string(view.axis) + ">", {data, to.in_shape(call, 1, indices)}, call.type(),
                 with(indices)));
}

std::vector<tensor_type> infer_gather_elements(const op_call& call) { return {{call.type(), call.dims(1)}}; }
void lower_gather_elements(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  to.give(call, 0,
          to.add("nn::gather_elements<" + std::to_string(axis) + ">",
                 {to.in_shape(call, 0, call.dims()), to.in_shape(call, 1, call.dims(1))}, call.type(), call.dims(1)));
}
std::vector<tensor_type> infer_gather_nd(const op_call& call) {
  const auto batch = static_cast<std::size_t>(call.integer("batch_dims", 0));
  const extents &data = call.dims(0), &indices = call.dims(1);
  call.require(!indices.empty(), "its indices have no axis");
  const auto depth = static_cast<std::size_t>(indices.back());
  call.require(batch + depth <= data.size(), "its indices are longer than the rank");
  extents dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + static_cast<std::ptrdiff_t>(batch + depth), data.end());
  return {{call.type(), dims}};
}
void lower_gather_nd(lowering& to, const op_call& call) {
  const std::int64_t batch = call.integer("batch_dims", 0);
  to.give(call, 0,
          to.add("nn::gather_nd<" + std::to_string(batch) + ">",
                 {to.in_shape(call, 0, call.dims()), to.in_shape(call, 1, call.dims(1))}, call.type(),
                 call.out().dims.empty() ? extents{1} : call.out().dims));
}
std::vector<tensor_type> infer_scatter(const op_call& call) { return {{call.type(), call.dims()}}; }
/// "lv::scatter::add", as the attribute `reduction` says.
std::string scatter_of(const op_call& call) {
  const std::string how = call.choice("reduction", "none", {"none", "add", "mul", "min", "max"});
  return "lv::scatter::" + (how == "none" ? "replace" : how);
}
void lower_scatter_nd(lowering& to, const op_call& call) {
  to.give(call, 0,
          to.add("nn::scatter_nd<" + scatter_of(call) + ">",
                 {to.in_shape(call, 0, call.dims()), to.in_shape(call, 1, call.dims(1)),
                  to.in_shape(call, 2, call.dims(2).empty() ? extents{1} : call.dims(2))},
                 call.type(), call.dims()));
}
void lower_scatter_elements(lowering& to, const op_call& call) {
  const std::size_t axis = call.axis(call.integer("axis", 0), call.rank());
  to.give(call, 0,
          to.add("nn::scatter_elements<" + std::to_string(axis) + ", " + scatter_of(call) + ">",
                 {to.in_shape(call, 0, call.dims()), to.in_shape(call, 1, call.dims(1)),
                  to.in_shape(call, 2, call.dims(2))},
                 call.type(), call.dims()));
}

// --- blocks ---------------------------------------------------------------------------------------------------------

std::vector<tensor_type> infer_depth_to_space(const op_call& call) {
  const std::int64_t block = call.integer("blocksize", 1);
  const extents& d = call.dims();
  call.require(d.size() == 4 && block > 0 && d[1] % (block * block) == 0, "its blocks do not divide the channels");
  return {{call.type(), {d[0], d[1] / (block * block), d[2] * block, d[3] * block}}};
}
std::vector<tensor_type> infer_space_to_depth(const op_call& call) {
  const std::int64_t block = call.integer("blocksize", 1);
  const extents& d = call.dims();
  call.require(d.size() == 4 && block > 0 && d[2] % block == 0 && d[3] % block == 0,
               "its blocks do not divide the picture");
  return {{call.type(), {d[0], d[1] * block * block, d[2] / block, d[3] / block}}};
}
void lower_blocks(lowering& to, const op_call& call) {
  const std::string block = std::to_string(call.integer("blocksize", 1));
  const bool to_depth = call.called().op == "SpaceToDepth", crd = call.text("mode", "DCR") == "CRD";
  const std::string op = to_depth ? "nn::space_to_depth<" + block + ">"
                                  : "nn::depth_to_space<" + block + ", lv::depth_order::" + (crd ? "crd>" : "dcr>");
  const extents out = item_of(call.out().dims);
  per_item(to, call, item_of(call.dims()), out, [&](int from) { return to.add(op, {from}, call.type(), out); });
}

std::vector<tensor_type> infer_trilu(const op_call& call) { return {{call.type(), call.dims()}}; }
std::int64_t diagonal_of(const op_call& call) {
  return call.has(1) ? call.known(1, "the diagonal").scalar<std::int64_t>() : 0;
}
std::vector<constant> fold_trilu(const op_call& call) {
  const bool upper = call.integer("upper", 1) != 0;
  const std::int64_t k = diagonal_of(call);
  const extents& d = call.dims();
  const std::int64_t rows = d[d.size() - 2], columns = d[d.size() - 1];
  return {by_number(call.type(), [&]<class T>(T) {
    std::vector<T> all = call.in(0).known->as<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t column = static_cast<std::int64_t>(i) % columns,
                         row = static_cast<std::int64_t>(i) / columns % rows;
      if (upper ? column - row < k : column - row > k) all[i] = 0;
    }
    return constant::of(call.type(), d, all);
  })};
}
void lower_trilu(lowering& to, const op_call& call) {
  const bool upper = call.integer("upper", 1) != 0;
  const extents dims = call.rank() == 2 ? call.dims() : stored_dims(call.dims());  // one row is a matrix, too
  to.give(call, 0,
          to.add("nn::trilu<" + std::string(upper ? "true" : "false") + ", " + std::to_string(diagonal_of(call)) + ">",
                 {to.in_shape(call, 0, dims)}, call.type(), dims));
}

constexpr op_definition move_definitions[] = {
    {"Reshape", infer_reshape, fold_reshape, lower_reshape},
    {"Flatten", infer_flatten, fold_reshape, lower_reshape},
    {"Squeeze", infer_squeeze, fold_reshape, lower_reshape},
    {"Unsqueeze", infer_unsqueeze, fold_reshape, lower_reshape},
    {"Transpose", infer_transpose, fold_transpose, lower_transpose},
    {"Concat", infer_concat, fold_concat, lower_concat},
    {"Split", infer_split, fold_split, lower_split},
    {"Slice", infer_slice, fold_slice, lower_slice},
    {"Pad", infer_pad, nullptr, lower_pad},
    {"Expand", infer_expand, fold_expand, lower_expand},
    {"Tile", infer_tile, fold_tile, lower_tile},
    {"Gather", infer_gather, fold_gather, lower_gather},
    {"GatherElements", infer_gather_elements, nullptr, lower_gather_elements},
    {"GatherND", infer_gather_nd, nullptr, lower_gather_nd},
    {"ScatterND", infer_scatter, nullptr, lower_scatter_nd},
    {"ScatterElements", infer_scatter, nullptr, lower_scatter_elements},
    {"Scatter", infer_scatter, nullptr, lower_scatter_elements},
    {"DepthToSpace", infer_depth_to_space, nullptr, lower_blocks},
    {"SpaceToDepth", infer_space_to_depth, nullptr, lower_blocks},
    {"Trilu", infer_trilu, fold_trilu, lower_trilu},
};

}  // namespace

std::span<const op_definition> move_ops() { return move_definitions; }

}  // namespace levada::onnx
