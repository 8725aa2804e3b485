// SPDX-License-Identifier: Apache-2.0
#pragma once
// passes/attention_mask.hpp: what a network adds to the scores of an attention, as the mask of one op.

#include <optional>
#include <string>
#include <vector>

#include "../network/network.hpp"

namespace levada::onnx {

/// Numbers that are added to the scores, or bools: the scores where they are `hides` become `number`.
struct mask_term {
  value_id id = no_value;
  std::optional<bool> hides{};
  double number = 0;
};

struct attention_mask {
  bool causal = false;
  value_id added = no_value;  ///< one tensor, or nothing
};

/// An attention over scores [..., T, S] of that type.
struct attention_scores {
  element type = element::undefined;
  extents dims;
};

/// Replacing scores is the same as adding to them: where no query is left without a key, or what is added is so much
/// that no score is seen beside it.
bool is_addition(const network& net, const mask_term& term);

/// Each query sees a key, whatever the item is.
bool sees_keys(const network& net, const std::vector<mask_term>& terms, const attention_scores& scores);

/// The terms as one mask. Nodes that have to be computed for it are added to `nodes` with that name.
attention_mask mask_of(network& net, const std::vector<mask_term>& terms, const attention_scores& scores,
                       const std::string& name, std::vector<node>& nodes);

}  // namespace levada::onnx
