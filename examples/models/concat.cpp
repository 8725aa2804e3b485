// SPDX-License-Identifier: Apache-2.0
// SqueezeNet with random weights, 3 x 224 x 224.

#include "squeezenet.hpp"

#include "../common/run.hpp"
#include "show.hpp"

int main() {
  return example::run([] {
    return example::models::show("SqueezeNet",
                                 [](const auto& weights) { return example::models::squeezenet<>(weights); });
  });
}
