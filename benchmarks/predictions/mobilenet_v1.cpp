// SPDX-License-Identifier: Apache-2.0
#include "../../examples/models/mobilenet_v1.hpp"

#include "costs/mobilenet_v1.costs.hpp"
#include "networks.hpp"

namespace {

constexpr auto make = [](const auto& w) { return example::models::mobilenet_v1<>(w); };

void profile() {
  const auto weights = predictions::random_weights(make);
  predictions::profile_network("mobilenet_v1", make(weights));
}
void predict(std::vector<predictions::prediction>& all) {
  const auto weights = predictions::random_weights(make);
  predictions::predict_network<mobilenet_v1_costs>("mobilenet_v1", make(weights), all);
}

}  // namespace

const predictions::network predictions::mobilenet_v1{"mobilenet_v1", &profile, &predict};
