// SPDX-License-Identifier: Apache-2.0
// ResNet-18 with random weights, 3 x 224 x 224.

#include "resnet18.hpp"

#include "../common/run.hpp"
#include "show.hpp"

int main() {
  return example::run([] {
    return example::models::show("ResNet-18", [](const auto& weights) { return example::models::resnet18<>(weights); });
  });
}
