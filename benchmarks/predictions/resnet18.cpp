// SPDX-License-Identifier: Apache-2.0
#include "../../examples/models/resnet18.hpp"

#include "costs/resnet18.costs.hpp"
#include "networks.hpp"

namespace {

constexpr auto make = [](const auto& w) { return example::models::resnet18<>(w); };

void profile() {
  const auto weights = predictions::random_weights(make);
  predictions::profile_network("resnet18", make(weights));
}
void predict(std::vector<predictions::prediction>& all) {
  const auto weights = predictions::random_weights(make);
  predictions::predict_network<resnet18_costs>("resnet18", make(weights), all);
}

}  // namespace

const predictions::network predictions::resnet18{"resnet18", &profile, &predict};
