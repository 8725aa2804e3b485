// SPDX-License-Identifier: Apache-2.0
#include "passes.hpp"

namespace levada::onnx {

void simplify(network& net) {
  find_quantized(net);  // before weights are others
  find_patterns(net);
  find_attention(net);  // before transposes are somewhere else
  move_transposes(net);
  fold_pads(net);
  fold_affine(net);
  find_patterns(net);
  for (const node& n : net.nodes)
    for (const auto& branch : n.branches) simplify(*branch);
}

}  // namespace levada::onnx
