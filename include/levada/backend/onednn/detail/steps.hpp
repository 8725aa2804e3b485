// SPDX-License-Identifier: Apache-2.0
#pragma once
// backend/onednn/detail/steps.hpp: which runs of ops oneDNN computes as one, and the steps they fall into.

#include <cstddef>

#include <levada/backend/detail/weighted_run.hpp>

namespace levada::detail {

enum class onednn_step { none, weighted, pool, flatten };

/// The first step of a run and how many ops it takes. `flat`: what comes has one axis.
struct next_onednn_step {
  onednn_step kind = onednn_step::none;
  std::size_t count = 0;

  constexpr next_onednn_step(op_run run, bool flat) {
    const op_info& op = run[0];
    if (const weighted_run weighted = weighted_run_of(run); weighted.count != 0 && (op.kind == "dense") == flat) {
      kind = onednn_step::weighted;
      count = weighted.count;
    } else if (!flat && (op.kind == "max_pool2d" || op.kind == "avg_pool2d") && op.window.dense_taps()) {
      kind = onednn_step::pool;
      count = 1;
    } else if (!flat && op.kind == "flatten") {
      kind = onednn_step::flatten;
      count = 1;
    }
  }
};

/// Convolutions, pools and dense layers, with a flatten behind some of them.
constexpr bool onednn_takes(op_run run) {
  if (!all_float(run) || run[0].kind == "flatten") return false;
  bool flat = run[0].input().extents.rank == 1;
  while (!run.empty()) {
    const next_onednn_step step(run, flat);
    if (step.kind == onednn_step::none) return false;
    flat = flat || step.kind == onednn_step::flatten;
    run = run.subspan(step.count);
  }
  return true;
}

}  // namespace levada::detail
