// SPDX-License-Identifier: Apache-2.0
#pragma once
// network/elaborate.hpp: a model as a network: every shape is inferred, constants and shape arithmetic are folded,
// functions and the branches of constant conditions stand in their place.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "network.hpp"

namespace levada::onnx {

struct elaboration_options {
  /// Extents of free axes, by their name ("batch") or "input.axis" ("x.0"); or a whole shape by the input's name.
  std::map<std::string, extents> dims;
  /// Inputs that are the same for all items.
  std::map<std::string, std::vector<double>> constants;
  /// The same as whole tensors, of the type and the extents that the model says.
  std::map<std::string, constant> bound;
  /// float16 and bfloat16 become float.
  bool widen_half = true;
  /// Inputs whose items have another order of axes than the model: "NHWC" of one that the model has as NCHW.
  std::map<std::string, std::string> layouts;
  /// The tensor where the part that is converted begins, and those where it ends; all where empty.
  std::string from;
  std::vector<std::string> to;
  /// Nodes that cannot be converted are left to ONNX Runtime, where the model says what they give.
  bool leave_unsupported = false;
};

/// What was done with the nodes of the file, for the listing.
struct elaboration_counts {
  std::size_t nodes = 0;    ///< that were met, branches that are not taken left out
  std::size_t folded = 0;   ///< whose outputs are constants now
  std::size_t aliases = 0;  ///< Identity, Dropout
  std::size_t inlined = 0;  ///< calls of functions, If of a constant
};

/// Throws one `conversion_error` that has everything that is missing: unsupported ops with their number and first node,
/// free axes, wrong nodes.
network elaborate(const model_def& model, const elaboration_options& options, elaboration_counts& counts);

}  // namespace levada::onnx
