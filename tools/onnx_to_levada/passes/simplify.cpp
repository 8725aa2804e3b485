// SPDX-License-Identifier: Apache-2.0
#include "passes.hpp"

namespace levada::onnx {

void simplify(network& net) {
  find_patterns(net);
  move_transposes(net);
  fold_pads(net);
  fold_affine(net);
  find_patterns(net);
}

}  // namespace levada::onnx
