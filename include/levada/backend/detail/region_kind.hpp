// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/region_kind.hpp: kinds of regions that backends compute as one kernel, and how an operand lies beside
// a region's results. Plain values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <levada/backend/detail/operand_layout.hpp>
#include <levada/core/detail/shape.hpp>
#include <levada/graph/detail/op_info.hpp>

namespace levada::detail {

/// The ops from the first that is no part of the chain at the head of a region, or joins it with another value.
/// `kind` is that of its first op, `producer(op, operand)` an op of the region, or `outside`, and `operands(op)` the
/// number of its operands.
template <class Producer, class Operands>
constexpr std::size_t first_join(std::string_view kind, std::size_t ops, Producer producer, Operands operands) {
  std::size_t first = 1;
  if (is_product(kind)) return first;  // nothing else is a part of its kernel
  while (first < ops && operands(first) == 1 && producer(first, 0) == first - 1) ++first;
  // What is taken behind it has to be the chain's result.
  for (bool again = true; again;) {
    again = false;
    for (std::size_t op = first; op < ops; ++op)
      for (std::size_t k = 0; k < operands(op); ++k)
        if (const std::size_t from = producer(op, k); from != region_info::outside && from + 1 < first)
          first = from + 1, again = true;
  }
  return first;
}
constexpr std::size_t first_join(const region_info& region) {
  return first_join(
      region[0].kind, region.size(), [&](std::size_t op, std::size_t k) { return region.producer(op, k); },
      [&](std::size_t op) { return region[op].takes.size(); });
}

constexpr bool is_float_op(const op_info& op) {
  for (const tensor_info& in : op.takes)
    if (in.type != element::f32) return false;
  return op.gives.type == element::f32;
}

/// All ops are element-wise, of float.
constexpr bool is_element_region(const region_info& region) {
  for (const op_info& op : region.ops())
    if (!op.has_function || !is_float_op(op)) return false;
  return true;
}

/// An op with weights and what follows it in its kernel, then element-wise ops over all of its results. In front of a
/// convolution its input may be padded.
template <class = void>
constexpr bool is_joined_region(const region_info& region) {
  const bool is_padded = region[0].kind == "pad" && region.size() > 1 && region[1].kind == "conv2d";
  const std::size_t weighted = is_padded ? 1 : 0;
  const std::string_view kind = region[weighted].kind;
  if (region[0].has_function || !region[region.size() - 1].has_function) return false;
  if (kind != "conv2d" && kind != "dense" && !is_product(kind)) return false;
  // No other one with weights, and none with an operand of its own.
  for (std::size_t op = weighted + 1; op < region.size(); ++op)
    if (region[op].joins_parameter ||
        (region[op].fuses_as == op_kind::out_fusable && region[op].parameters.size() != 0))
      return false;
  const std::size_t first = first_join(region);
  if (first <= weighted || first == region.size()) return false;
  const shape& results = region[first - 1].gives.extents;
  for (std::size_t op = 0; op < region.size(); ++op) {
    if (!is_float_op(region[op])) return false;
    if (op < first) continue;
    if (!region[op].has_function || region[op].gives.extents != results) return false;
    for (std::size_t k = 0; k < region[op].takes.size(); ++k)
      if (region.producer(op, k) == region_info::outside &&
          layout_beside(region[op].takes[k].extents, results, place_axes(kind)) == operand_layout::other)
        return false;
  }
  return true;
}

/// A gate: the product of a picture's channels with a number for each, in any order.
template <class = void>
constexpr bool is_gate(const op_info& op) {
  if (op.kind != "mul" || !op.has_function || op.takes.size() != 2 || !is_float_op(op)) return false;
  const shape& picture = op.gives.extents;
  const auto are = [&](std::size_t full, std::size_t gate) {
    return op.takes[full].extents == picture &&
           layout_beside(op.takes[gate].extents, picture, 2) == operand_layout::by_channel;
  };
  return picture.rank == 3 && (are(0, 1) || are(1, 0));
}
/// The ops from `first` on are such a region, whose first alone takes what ops before it give.
template <class = void>
constexpr bool is_joined_from(const region_info& region, std::size_t first) {
  for (std::size_t op = first + 1; op < region.size(); ++op)
    for (std::size_t before = 0; before < first; ++before)
      if (region.operands_from(op, before) != 0) return false;
  return is_joined_region(region_info(region.ops().subspan(first)));
}
/// A gate that only a convolution takes, and what that and ops behind it are as a region.
template <class = void>
constexpr bool is_gated_region(const region_info& region) {
  if (region.size() < 3 || !is_gate(region[0]) || region[1].kind != "conv2d" || region[1].groups != 1) return false;
  return region.producer(1, 0) == 0 && is_joined_from(region, 1);
}

/// A depthwise convolution and element-wise ops behind it that a pointwise convolution alone takes, and what that and
/// ops behind it are as a region.
template <class = void>
constexpr bool is_separable_region(const region_info& region) {
  const auto is_conv = [&](std::size_t op) { return region[op].kind == "conv2d"; };
  if (!is_conv(0) || region[0].groups == 1 || region[0].groups != region[0].gives.extents[0]) return false;
  std::size_t pointwise = 1;
  while (pointwise < region.size() && !is_conv(pointwise)) ++pointwise;
  if (pointwise == region.size() || region[pointwise].groups != 1) return false;
  for (std::size_t op = 1; op <= pointwise; ++op)
    if (region.producer(op, 0) != op - 1 || region[op].takes.size() != 1 || !is_float_op(region[op])) return false;
  return is_joined_from(region, pointwise);
}

/// A convolution of bfloat16, and the sum of its results with another tensor.
template <class = void>
constexpr bool is_bfloat16_sum(const region_info& region) {
  if (region.size() != 2 || region[0].kind != "bfloat16_conv2d" || region[1].kind != "bfloat16_add") return false;
  if (region[1].takes.size() != 2 || region.operands_from(1, 0) != 1) return false;
  const tensor_info& results = region[1].gives;
  const auto is_alike = [&](const tensor_info& t) { return t.type == element::bf16 && t.extents == results.extents; };
  return is_alike(results) && is_alike(region[0].gives) && is_alike(region[1].takes[0]) && is_alike(region[1].takes[1]);
}

/// The largest tensor of a region: its last axis is the row.
template <class = void>
constexpr shape rows_of(const region_info& region) {
  shape largest = region.gives().extents;
  for (const op_info& op : region.ops())
    for (const tensor_info& in : op.takes)
      if (in.extents.elements() > largest.elements()) largest = in.extents;
  return largest;
}
constexpr bool is_row_reduction(const op_info& op, const shape& rows) {
  if (op.fuses_as != op_kind::reduction || op.takes.size() != 1 || op.parameters.size() != 0) return false;
  return op.input().extents == rows && op.gives.extents.rank == rows.rank &&
         layout_beside(op.gives.extents, rows, 1) == operand_layout::by_channel;
}
/// Reductions of rows among element-wise ops, all of float.
template <class = void>
constexpr bool is_row_region(const region_info& region) {
  bool may_reduce = false;
  for (const op_info& op : region.ops()) {
    may_reduce = may_reduce || op.fuses_as == op_kind::reduction;
    if (!op.has_function && op.fuses_as != op_kind::reduction) return false;
  }
  if (!may_reduce) return false;
  const shape rows = rows_of(region);
  if (rows.rank == 0 || rows[rows.rank - 1] == 1) return false;
  bool reduces = false;
  for (std::size_t op = 0; op < region.size(); ++op) {
    const op_info& info = region[op];
    for (const tensor_info& in : info.takes)
      if (in.type != element::f32 || layout_beside(in.extents, rows, 1) == operand_layout::other) return false;
    if (info.gives.type != element::f32) return false;
    if (is_row_reduction(info, rows)) {
      reduces = true;
      continue;
    }
    const operand_layout gives = layout_beside(info.gives.extents, rows, 1);
    const bool is_whole = info.gives.extents.rank == rows.rank;
    if (!info.has_function || !is_whole || (gives != operand_layout::full && gives != operand_layout::by_channel))
      return false;
  }
  return reduces;
}

/// Parameters among the operands of its ops, and a region of those above where they are inputs.
template <class = void>
constexpr bool takes_operands(const region_info& region) {
  std::array<op_info, 16> ops;
  bool joins = false;
  if (region.size() > ops.size()) return false;
  for (std::size_t op = 0; op < region.size(); ++op) {
    ops[op] = region[op];
    if (!ops[op].joins_parameter) continue;
    joins = true;
    ops[op].takes.push_back({ops[op].input().type, ops[op].parameters[0].extents});
    ops[op].from.push_back(static_cast<std::uint16_t>(0xffff - op));  // no value of the graph
    ops[op].parameters = {};
    ops[op].has_function = true;
    ops[op].joins_parameter = false;
  }
  if (!joins) return false;
  const region_info among_inputs(op_run(ops).first(region.size()));
  return is_element_region(among_inputs) || is_joined_region(among_inputs) || is_gated_region(among_inputs) ||
         is_row_region(among_inputs);
}

}  // namespace levada::detail
