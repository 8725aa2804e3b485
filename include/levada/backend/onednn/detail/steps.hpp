// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/steps.hpp: which runs and regions oneDNN computes as one, and the steps they fall into, each
// one of its primitives: a convolution, dense layer or product with what folds into its weights and the ops that it
// computes with its results, or a pool.

#include <algorithm>
#include <cstddef>

#include <levada/backend/detail/operand_layout.hpp>
#include <levada/backend/detail/weighted_run.hpp>
#include <levada/backend/onednn/detail/post_op.hpp>

namespace levada::detail {

/// The most ops of a run or region here.
inline constexpr std::size_t most_onednn_ops = 16;

/// The ops of a run or of a region, and who gives what each takes.
class linked_ops {
 public:
  static constexpr std::size_t outside = region_info::outside;

  constexpr explicit linked_ops(op_run run) : ops_(run), is_chain_(true) {}
  constexpr explicit linked_ops(const region_info& region) : ops_(region.ops()) {}

  constexpr std::size_t size() const { return ops_.size(); }
  constexpr const op_info& operator[](std::size_t op) const { return ops_[op]; }
  constexpr op_run ops() const { return ops_; }

  /// The op that gives what an op takes as its `operand`-th, or `outside`.
  constexpr std::size_t producer(std::size_t op, std::size_t operand) const {
    if (is_chain_) return op == 0 ? outside : op - 1;
    return region_info(ops_).producer(op, operand);
  }
  /// How many operands are what that op gives.
  constexpr std::size_t uses(std::size_t producer) const {
    if (is_chain_) return producer + 1 < size() ? 1 : 0;
    std::size_t count = 0;
    for (std::size_t op = producer + 1; op < size(); ++op) count += region_info(ops_).operands_from(op, producer);
    return count;
  }
  /// Which operand of an op is what the one before it gives, where nothing else takes that; else `outside`.
  constexpr std::size_t operand_from_before(std::size_t op) const {
    for (std::size_t k = 0; k < ops_[op].takes.size(); ++k)
      if (producer(op, k) == op - 1) return uses(op - 1) == 1 ? k : outside;
    return outside;
  }

  /// The number of an input that an op takes as its `operand`-th.
  constexpr std::size_t input(std::size_t op, std::size_t operand) const {
    if (is_chain_) return operand;
    bounded<std::uint16_t, most_onednn_ops * 2> seen;
    for (std::size_t o = 0; o <= op; ++o)
      for (std::size_t k = 0; k < ops_[o].takes.size(); ++k) {
        if (producer(o, k) != outside) continue;
        const std::uint16_t value = ops_[o].from[k];
        const auto at = std::find(seen.begin(), seen.end(), value);
        if (o == op && k == operand) return static_cast<std::size_t>(at - seen.begin());
        if (at == seen.end()) seen.push_back(value);
      }
    return outside;
  }

 private:
  op_run ops_;
  bool is_chain_ = false;
};

/// Ops `first` to before `first + count`, of which the first `folded` are the primitive itself.
struct onednn_step {
  enum class form { weighted, product, pool, flatten } how = form::flatten;
  std::size_t first = 0, folded = 1, count = 1;
};
using onednn_steps = bounded<onednn_step, most_onednn_ops>;

/// Matrices with the same batch on both sides, or one for all.
constexpr bool is_onednn_product(const op_info& op) {
  if (!is_product(op.kind)) return false;
  const shape& results = op.gives.extents;
  const auto fits = [&](const shape& s) {
    if (s.rank != results.rank || s.rank < 2 || s.rank > 4) return false;
    for (std::size_t axis = 0; axis + 2 < s.rank; ++axis)
      if (s[axis] != results[axis] && s[axis] != 1) return false;
    return true;
  };
  if (!fits(op.takes[0].extents)) return false;
  return op.kind == "matmul" ? fits(op.takes[1].extents) : fits(op.parameters[0].extents);
}

/// The first step of those from `first` on, without the ops behind it; none: its `count` is 0.
constexpr onednn_step onednn_step_at(const linked_ops& ops, std::size_t first) {
  using form = onednn_step::form;
  const op_info& op = ops[first];
  const shape& in = op.input().extents;
  if (op.kind == "max_pool2d" || op.kind == "avg_pool2d")
    return {form::pool, first, 1, op.window.dense_taps() && in.rank == 3 ? 1u : 0u};
  if (op.kind == "flatten") return {form::flatten, first, 1, first != 0 && in.rank == 3 ? 1u : 0u};
  if (is_onednn_product(op)) return {form::product, first, 1, 1};
  if (op.kind == "dense" && in.rank == 2) return {form::weighted, first, 1, 1};
  std::size_t chain = 1;
  while (first + chain < ops.size() && ops[first + chain].takes.size() == 1 &&
         ops.operand_from_before(first + chain) == 0)
    ++chain;
  const std::size_t folded = weighted_run_of(ops.ops().subspan(first, chain)).folded;
  return {form::weighted, first, folded, folded};
}

/// An operand lies beside the results of a step as oneDNN reads it fast. (Beside a picture's, values of each place of
/// all channels do not.)
constexpr bool lies_beside(const shape& operand, const shape& results, std::size_t place_axes) {
  const operand_layout layout = layout_beside(operand, results, place_axes);
  return layout != operand_layout::other && (layout != operand_layout::by_place || place_axes == 1);
}

/// The op is computed with the results of the step in front of it: it takes them, and what is there before.
constexpr bool follows_in_step(const linked_ops& ops, const onednn_step& step, std::size_t op) {
  const std::size_t results = ops.operand_from_before(op), axes = place_axes(ops[step.first].kind);
  const op_info& info = ops[op];
  const shape& extents = info.gives.extents;
  if (results == linked_ops::outside || !is_onednn_post_op(info, results)) return false;
  if (extents != ops[step.first + step.folded - 1].gives.extents) return false;
  if (info.joins_parameter) return lies_beside(info.parameters[0].extents, extents, axes);
  if (info.takes.size() == 1) return true;
  const std::size_t producer = ops.producer(op, 1 - results);
  if (producer != linked_ops::outside && (producer >= step.first || ops[producer].kind == "flatten")) return false;
  const shape& other = info.takes[1 - results].extents;
  const bool has_its_axes = other.rank == extents.rank || (other.rank == 1 && extents.rank == 2);
  return has_its_axes && lies_beside(other, extents, axes);
}

/// The steps that the ops fall into; none where oneDNN does not compute them as one.
constexpr onednn_steps onednn_steps_of(const linked_ops& ops) {
  onednn_steps steps;
  if (ops.size() > most_onednn_ops || !all_float(ops.ops())) return {};
  for (std::size_t next = 0; next < ops.size(); next += steps.back().count) {
    onednn_step step = onednn_step_at(ops, next);
    if (step.count == 0) return {};
    const bool computes = step.how == onednn_step::form::weighted || step.how == onednn_step::form::product;
    while (computes && next + step.count < ops.size() && follows_in_step(ops, step, next + step.count)) ++step.count;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace levada::detail
