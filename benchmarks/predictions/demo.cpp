// SPDX-License-Identifier: Apache-2.0
#include "../../examples/fashion_mnist/network.hpp"

#include "costs/demo.costs.hpp"
#include "networks.hpp"

namespace {

constexpr auto make = [](const auto& w) { return example::fashion_mnist::classifier(w); };

void profile() {
  const auto weights = predictions::random_weights(make);
  predictions::profile_network("demo", make(weights));
}
void predict(std::vector<predictions::prediction>& all) {
  const auto weights = predictions::random_weights(make);
  predictions::predict_network<demo_costs>("demo", make(weights), all);
}

}  // namespace

const predictions::network predictions::demo{"demo", &profile, &predict};
