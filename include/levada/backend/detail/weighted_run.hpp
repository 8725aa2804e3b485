// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/detail/weighted_run.hpp: a convolution or dense layer with what may follow it in the same kernel, as prepared
// backends see it: a batch_norm and a bias fold into its weights, a relu is computed with its result.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <levada/backend/prepared.hpp>

namespace levada::detail {

/// How many ops of the run, and which.
struct weighted_run {
  std::size_t count = 0;   ///< 0: the run does not begin with an op that has weights
  std::size_t folded = 0;  ///< what is in the weights, the op itself included: without the relu
  bool relu = false;
};

/// The longest one at the beginning of a run.
constexpr weighted_run weighted_run_of(op_run run) {
  weighted_run found;
  if (run.empty() || (run[0].kind != "conv2d" && run[0].kind != "dense")) return found;
  if (run[0].kind == "dense" && run[0].input().extents.rank != 1) return found;
  found.count = 1;
  bool normed = false, biased = false;
  for (; found.count < run.size() && !found.relu; ++found.count) {
    const std::string_view kind = run[found.count].kind;
    if (kind == "batch_norm" && !normed && !biased)
      normed = true;
    else if (kind == "bias" && !biased)
      biased = true;
    else if (kind == "relu")
      found.relu = true;
    else
      break;
  }
  found.folded = found.count - (found.relu ? 1 : 0);
  return found;
}

/// Its weights and one bias an output.
struct folded_weights {
  std::vector<float> weight, bias;
};

/// The parameters of `run` begin with the `first`-th.
inline folded_weights fold_weights(op_run run, const parameter_values& p, std::size_t first = 0) {
  const op_info& weighted = run[0];
  const std::size_t outputs = weighted.parameters[0].extents[0];
  const std::size_t each = weighted.parameters[0].extents.elements() / outputs;
  const float* weight = p.get<float>(first);
  folded_weights folded{{weight, weight + outputs * each}, std::vector<float>(outputs)};
  if (weighted.parameters.size() > 1)
    for (std::size_t o = 0; o < outputs; ++o) folded.bias[o] = p.get<float>(first + 1)[o];
  std::size_t next = first + weighted.parameters.size();
  for (const op_info& op : run.subspan(1)) {
    for (std::size_t o = 0; o < outputs; ++o) {
      if (op.kind == "bias") folded.bias[o] += p.get<float>(next)[o];
      if (op.kind != "batch_norm") continue;
      const float scale = p.get<float>(next)[o], offset = p.get<float>(next + 1)[o];
      const float mean = p.get<float>(next + 2)[o], variance = p.get<float>(next + 3)[o];
      const float factor = scale / std::sqrt(variance + static_cast<float>(op.epsilon));
      for (std::size_t i = 0; i < each; ++i) folded.weight[o * each + i] *= factor;
      folded.bias[o] = (folded.bias[o] - mean) * factor + offset;
    }
    next += op.parameters.size();
  }
  return folded;
}

/// The parameters of all ops of a run.
constexpr std::size_t parameters_of(op_run run) {
  std::size_t count = 0;
  for (const op_info& op : run) count += op.parameters.size();
  return count;
}

/// Every tensor of the run has elements of float.
constexpr bool all_float(op_run run) {
  for (const op_info& op : run) {
    if (op.gives.type != element::f32) return false;
    for (const tensor_info& t : op.takes)
      if (t.type != element::f32) return false;
  }
  return true;
}

}  // namespace levada::detail
