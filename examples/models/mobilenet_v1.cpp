// SPDX-License-Identifier: Apache-2.0
// MobileNet-V1 with random weights, 3 x 224 x 224.

#include "mobilenet_v1.hpp"

#include "../common/run.hpp"
#include "show.hpp"

int main() {
  return example::run([] {
    return example::models::show("MobileNet-V1",
                                 [](const auto& weights) { return example::models::mobilenet_v1<>(weights); });
  });
}
